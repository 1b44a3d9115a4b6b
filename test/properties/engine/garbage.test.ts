import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitSha, entryId, type RunId, runId, treeSha } from "../../../shared/kernel/ids.ts";
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
  type Targets,
} from "../../../shared/queue/engine/types.ts";
import { admittedInOrder, compareEntries } from "../../../shared/queue/engine/order.ts";
import { isLegal, statesAfter } from "../../../shared/queue/engine/transitions.ts";
import { newEntry } from "../../../shared/queue/engine/new-entry.ts";
import { aPullRequest, aState, aSubmission, aTip, someSettings, START, status } from "../../support/queue.ts";
import { settings } from "./settings.ts";

const runs = Number(process.env["PROPERTY_RUNS"] ?? 250);

const number = fc.integer({ min: 1, max: 5 });
const entry = number.map((n) => entryId(`e${n}`));
const run = fc.integer({ min: 1, max: 12 }).map((n) => runId(`q-${n}`));
const sha = fc.constantFrom("T0", "T0", "T0", "T1", "commit-q-1", "head1").map(commitSha);
const time = fc.nat(5).map((n) => epochMs(START + n * HOUR_MS));
const what = fc.constantFrom("", "it broke", "something else");
const wish = fc.record({ by: what, at: time });
const priority = fc.record({ value: fc.integer({ min: 0, max: 255 }), byDefault: fc.boolean() });

const facts: fc.Arbitrary<PullRequestFacts> = fc
  .record({
    state: fc.constantFrom("OPEN" as const, "OPEN" as const, "OPEN" as const, "CLOSED" as const, "MERGED" as const),
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
    own: fc.option(
      fc.record({ tip: sha, tree: fc.constant(treeSha("t")), statuses: fc.constant([status("unit", "SUCCESS")]) }),
    ),
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
      "SUCCESS" as const,
      "FAILURE" as const,
      "ERROR" as const,
    ),
    url: fc.constant(null),
    description: fc.constant(null),
  }),
  { maxLength: 3 },
);

const targets: fc.Arbitrary<Targets> = fc.oneof(
  fc.constant({ kind: "ALL" as const }),
  fc.record({ kind: fc.constant("SET" as const), digest: fc.constantFrom("", "a", "b"), count: fc.nat(2) }),
);

const config = fc
  .record({
    notReadyTimeoutHours: fc.constantFrom(0, 3),
    requiredStatuses: fc.constantFrom<readonly string[] | null>(null, [], ["unit"], ["lint"]),
  })
  .chain((others) =>
    fc.record({
      settings: settings.map((chosen) => someSettings({ ...chosen, ...others })),
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

const anything: fc.Arbitrary<QueueEvent> = fc.oneof(
  fc.constant({ type: "wake" as const }),
  fc.record({ type: fc.constant("configured" as const), config }),
  fc
    .tuple(number, time, priority, fc.boolean(), fc.option(targets), fc.boolean())
    .map(([n, at, chosen, known, some, noBatch]) => ({
      type: "submitted" as const,
      entry: aSubmission(n, at, { priority: chosen, targets: some, noBatch, ...(known ? {} : { pr: null }) }),
    })),
  fc.record({
    type: fc.constant("asked" as const),
    entry,
    asked: fc.oneof(
      fc.record({ restart: wish }),
      fc.record({ priority }),
      fc.record({ targets }),
      fc.record({ targets }),
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
  fc.record({
    type: fc.constant("targets-compared" as const),
    entry,
    number: fc.nat(9),
    overlaps: fc.array(fc.nat(9), { maxLength: 4 }),
    isolated: fc.boolean(),
  }),
  fc.record({ type: fc.constant("targets-computed" as const), entry, headSha: sha, targets }),
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

/** What would come if all went well. */
const helpful: fc.Arbitrary<QueueEvent> = fc.oneof(
  fc.constant({ type: "tip" as const, read: 0, tip: aTip("T0"), reached: [] }),
  fc.tuple(number, targets).map(([n, some]) => ({
    type: "submitted" as const,
    entry: aSubmission(n, START, { targets: some }),
  })),
  run.map((id) => ({ type: "run-built" as const, run: id, commit: commitSha(`commit-${id}`), tree: treeSha("t") })),
  fc.record({
    type: fc.constant("statuses" as const),
    run,
    repeats: fc.constant(0),
    statuses: fc.constantFrom([status("unit", "SUCCESS"), status("lint", "SUCCESS")], [status("unit", "FAILURE")]),
    complete: fc.constant(true),
    readAt: fc.constant(null),
  }),
  sha.map((to) => ({
    type: "landed" as const,
    landing: "",
    tip: aTip(to),
    trees: "EQUAL" as const,
    entries: [],
    onMovedTip: false,
  })),
  fc.constant({ type: "targets-compared" as const, entry: entryId("e1"), number: 1, overlaps: [], isolated: false }),
);
const events = fc.oneof({ weight: 3, arbitrary: helpful }, { weight: 2, arbitrary: anything });

/** All of what is landing landed, or a part of it. */
function landedOf(state: QueueState, event: Extract<QueueEvent, { type: "landed" }>, aim: number): QueueEvent {
  const group = state.landing?.group ?? [];
  return { ...event, landing: state.landing?.id ?? "", entries: aim === 1 ? group.slice(1) : group };
}

/** A run that waits for an answer of this kind. */
function runFor(state: QueueState, event: Extract<QueueEvent, { run: RunId }>, aim: number): QueueEvent {
  const phases = event.type === "statuses" ? ["TESTING", "REPEATING", "FAILED"] : ["BUILDING", "TESTING"];
  const fitting = [...state.runs.values()].filter((one) => phases.includes(one.phase));
  const found = fitting[aim % Math.max(1, fitting.length)];
  if (found === undefined) return event;
  return event.type === "statuses"
    ? { ...event, run: found.id, repeats: found.repeats, complete: true }
    : { ...event, run: found.id };
}

/** Answers are about what is under way more often than chance would have it, or little would ever happen. */
function aimed(state: QueueState, event: QueueEvent, aim: number): QueueEvent {
  if (aim === 0) return event;
  const waiting = [...state.entries.values()].find((one) => one.comparing !== null);
  const known = [...state.entries.values()].find((one) => "prNumber" in event && one.prNumber === event.prNumber);
  switch (event.type) {
    case "run-built":
    case "run-not-built":
    case "run-broken":
    case "statuses":
    case "forgiveness":
      return runFor(state, event, aim);
    case "tip":
    case "tip-missing":
      return { ...event, read: state.tipRead ?? event.read };
    case "landed":
      return landedOf(state, event, aim);
    case "not-landed":
      return { ...event, landing: state.landing?.id ?? "" };
    case "pull-request": {
      const { headSha, baseBranch } = known?.pr ?? event.facts;
      return aim === 1 ? event : { ...event, facts: { ...event.facts, headSha, baseBranch, draft: false } };
    }
    case "targets-compared":
      return waiting === undefined ? event : { ...event, entry: waiting.id, number: waiting.comparing?.number ?? 0 };
    case "wake":
    case "configured":
    case "submitted":
    case "asked":
    case "news":
    case "pull-request-unknown":
    case "targets-computed":
      return event;
  }
}

describe("whatever comes in, in whatever order", () => {
  it("step is total, ends, and keeps every promise", () => {
    const steps = fc.array(fc.tuple(events, fc.nat(6), fc.nat(4)), { maxLength: 120, size: "max" });
    fc.assert(
      fc.property(settings, steps, (chosen, all) => {
        let state = aState(chosen);
        let now = START;
        for (const [event, aim, pause] of all) {
          now = epochMs(now + pause * pause * 60_000);
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
