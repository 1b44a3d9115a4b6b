import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitSha, entryId, runId, treeSha } from "../../../shared/kernel/ids.ts";
import { epochMs, HOUR_MS } from "../../../shared/kernel/time.ts";
import { breachesOf, unexplained } from "../../../shared/queue/engine/invariants.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import {
  ENTRY_STATES,
  type Entry,
  type PullRequestFacts,
  type QueueEvent,
  type QueueState,
  REASONS,
} from "../../../shared/queue/engine/types.ts";
import { admittedInOrder, compareEntries } from "../../../shared/queue/engine/order.ts";
import { isLegal, statesAfter } from "../../../shared/queue/engine/transitions.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { aPullRequest, aState, aSubmission, aTip, someSettings, START } from "../../support/queue.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);

const number = fc.integer({ min: 1, max: 5 });
const entry = number.map((n) => entryId(`e${n}`));
const run = fc.integer({ min: 1, max: 12 }).map((n) => runId(`q-${n}`));
const sha = fc.constantFrom("T0", "T1", "commit-q-1", "commit-q-2", "head1", "head2").map(commitSha);
const time = fc.nat(5).map((n) => epochMs(START + n * HOUR_MS));
const what = fc.constantFrom("", "it broke", "something else");
const wish = fc.record({ by: what, at: time });
const priority = fc.record({ value: fc.integer({ min: 0, max: 255 }), byDefault: fc.boolean() });

const facts: fc.Arbitrary<PullRequestFacts> = fc
  .record({
    state: fc.constantFrom("OPEN" as const, "OPEN" as const, "CLOSED" as const, "MERGED" as const),
    draft: fc.boolean(),
    headSha: sha,
    baseBranch: fc.constantFrom("main", "main", "other"),
    mergeability: fc.constantFrom(
      "UNSPECIFIED" as const,
      "IN_PROGRESS" as const,
      "MERGEABLE" as const,
      "NOT_MERGEABLE" as const,
    ),
    judgedOn: fc.option(sha),
    obstacle: fc.option(what),
  })
  .map((change) => aPullRequest(1, change));

const tip = fc.tuple(sha, fc.constantFrom<readonly string[] | null>(["unit"], [], null, ["unit", "lint"]));
const statuses = fc.array(
  fc.record({
    context: fc.constantFrom("unit", "lint", "other"),
    state: fc.constantFrom(
      "PENDING" as const,
      "SUCCESS" as const,
      "SUCCESS" as const,
      "FAILURE" as const,
      "ERROR" as const,
    ),
    url: fc.constant(null),
    description: fc.constant(null),
  }),
  { maxLength: 3 },
);

const config = fc
  .record({
    concurrency: fc.integer({ min: 1, max: 3 }),
    retriesBeforeFailure: fc.nat(3),
    testingTimeoutMinutes: fc.constantFrom(0, 60),
    notReadyTimeoutHours: fc.constantFrom(0, 3),
    mode: fc.constantFrom("SINGLE" as const, "PARALLEL" as const),
    requiredStatuses: fc.constantFrom<readonly string[] | null>(null, [], ["unit"], ["lint"]),
  })
  .chain((settings) =>
    fc.record({
      settings: fc.constant(someSettings(settings)),
      operator: fc.record({
        state: fc.constantFrom("RUNNING" as const, "PAUSED" as const, "DRAINING" as const),
        reason: fc.option(what),
        since: time,
        allowUrgent: fc.boolean(),
      }),
      holdsClearedAt: fc.option(time),
      windows: fc.constant([]),
    }),
  );

const notBuilt = fc.oneof(
  fc.record({ kind: fc.constant("CONFLICT" as const), entry, with: fc.option(entry), paths: fc.constant(["a"]) }),
  fc.record({ kind: fc.constant("OWN" as const), entry, what }),
  fc.record({ kind: fc.constant("INFRASTRUCTURE" as const), what }),
);
const notLanded = fc.oneof(
  fc.constant({ kind: "TIP_MOVED" as const }),
  fc.record({ kind: fc.constantFrom("CONFLICT" as const, "REFUSED" as const, "INFRASTRUCTURE" as const), what }),
);

const events: fc.Arbitrary<QueueEvent> = fc.oneof(
  fc.constant({ type: "wake" as const }),
  fc.record({ type: fc.constant("configured" as const), config }),
  fc.tuple(number, time, priority, fc.boolean()).map(([n, at, chosen, known]) => ({
    type: "submitted" as const,
    entry: aSubmission(n, at, { priority: chosen, ...(known ? {} : { pr: null }) }),
  })),
  fc.record({
    type: fc.constant("asked" as const),
    entry,
    asked: fc.oneof(
      fc.record({ cancel: wish }),
      fc.record({ restart: wish }),
      fc.record({ priority }),
      fc.record({ cancel: wish, restart: wish, priority, noBatch: fc.boolean() }),
    ),
  }),
  fc.record({
    type: fc.constant("news" as const),
    prNumbers: fc.array(number),
    tip: fc.option(fc.record({ sha: fc.option(sha) })),
  }),
  fc.record({ type: fc.constant("pull-request" as const), prNumber: number, facts, readAt: time }),
  fc.record({
    type: fc.constant("pull-request-unknown" as const),
    prNumber: number,
    kind: fc.constantFrom("NOT_CONNECTED" as const, "UNREACHABLE" as const, "NOT_FOUND" as const),
    what,
  }),
  fc
    .tuple(fc.nat(12), tip, fc.array(sha, { maxLength: 2 }))
    .map(([read, [at, required], reached]) => ({ type: "tip" as const, read, tip: aTip(at, required), reached })),
  fc.record({ type: fc.constant("tip-missing" as const), read: fc.nat(12), what }),
  run.map((id) => ({
    type: "run-built" as const,
    run: id,
    commit: commitSha(`commit-${id}`),
    tree: treeSha(`tree-${id}`),
  })),
  fc.record({ type: fc.constant("run-not-built" as const), run, why: notBuilt }),
  fc.record({
    type: fc.constant("statuses" as const),
    run,
    repeats: fc.nat(2),
    statuses,
    complete: fc.boolean(),
    readAt: fc.option(time),
  }),
  fc.record({ type: fc.constant("run-broken" as const), run, what }),
  fc
    .record({
      at: tip,
      trees: fc.constantFrom("EQUAL" as const, "DIFFERENT" as const),
      entries: fc.array(entry, { maxLength: 3 }),
      onMovedTip: fc.boolean(),
      attempt: fc.nat(30),
      run,
    })
    .map(({ at: [sha0, required], attempt, run: of, ...rest }) => ({
      type: "landed" as const,
      landing: `${of}.${attempt}`,
      tip: aTip(sha0, required),
      ...rest,
    })),
  fc
    .tuple(run, fc.nat(30), notLanded)
    .map(([of, attempt, why]) => ({ type: "not-landed" as const, landing: `${of}.${attempt}`, why })),
);

/** Answers are about what is under way more often than chance would have it, or little would ever happen. */
function aimed(state: QueueState, event: QueueEvent, aim: number): QueueEvent {
  if (aim === 0) return event;
  const started = [...state.runs.keys()];
  if ("run" in event) return { ...event, run: started[aim % Math.max(1, started.length)] ?? event.run };
  if (event.type === "tip" || event.type === "tip-missing") return { ...event, read: state.tipRead ?? event.read };
  if (event.type === "landed" || event.type === "not-landed") return { ...event, landing: state.landing?.id ?? "" };
  return event;
}

describe("whatever comes in, in whatever order", () => {
  it("step is total, ends, and keeps every promise", () => {
    const steps = fc.array(fc.tuple(events, fc.nat(6), fc.nat(4)), { maxLength: 120, size: "max" });
    fc.assert(
      fc.property(steps, (all) => {
        let state = aState({ concurrency: 2 });
        let now = START;
        for (const [event, aim, pause] of all) {
          now = epochMs(now + pause * 20 * 60_000);
          let next = aimed(state, event, aim);
          for (let more = true, count = 0; more; count += 1) {
            const decision = step(state, next, now);
            expect([...breachesOf(state, decision, now), ...unexplained(decision.state, now)]).toEqual([]);
            expect(count).toBeLessThan(60);
            expect(decision.wakeAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
            ({ state, more } = decision);
            next = { type: "wake" };
          }
        }
      }),
      { numRuns: runs },
    );
  });
});

const someEntry: fc.Arbitrary<Entry> = fc
  .tuple(fc.nat(40), fc.nat(3), fc.constantFrom(0, 0, 50, 100, 255), fc.option(fc.nat(30)))
  .map(([n, at, value, place]) => ({
    ...newEntry(aSubmission(n, epochMs(START + at), { priority: { value, byDefault: false } }), 0),
    state: "PENDING" as const,
    place,
  }));

describe("the order", () => {
  const distinct = fc.uniqueArray(someEntry, { selector: (one) => one.prNumber, minLength: 3, maxLength: 12 });

  it("is total and antisymmetric, and follows through", () => {
    fc.assert(
      fc.property(distinct, ([a, b, c]) => {
        if (a === undefined || b === undefined || c === undefined) return;
        expect(Math.sign(compareEntries(a, b)) + Math.sign(compareEntries(b, a))).toBe(0);
        expect(compareEntries(a, b)).not.toBe(0);
        if (compareEntries(a, b) < 0 && compareEntries(b, c) < 0) expect(compareEntries(a, c)).toBeLessThan(0);
      }),
      { numRuns: runs * 4 },
    );
  });

  it("does not depend on the order in which entries are kept", () => {
    fc.assert(
      fc.property(distinct, (entries) => {
        const sorted = (from: readonly Entry[]) =>
          admittedInOrder({ entries: new Map(from.map((one) => [one.id, one])), landing: null }).map((one) => one.id);
        expect(sorted(entries.toReversed())).toEqual(sorted(entries));
      }),
      { numRuns: runs },
    );
  });
});

describe("the table of states", () => {
  it("answers for every pair of states and every reason, and nothing follows an end", () => {
    for (const from of [null, ...ENTRY_STATES])
      for (const to of ENTRY_STATES)
        for (const reason of REASONS) {
          const legal = isLegal({ from, to, reason });
          if (legal) expect(statesAfter(from)).toContain(to);
          if (from === "MERGED" || from === "FAILED" || from === "CANCELLED") expect(legal).toBe(false);
        }
  });
});
