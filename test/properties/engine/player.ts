/** Plays random commands on a queue and a world, and looks at everything that must hold after each step. */
import { isDeepStrictEqual } from "node:util";
import { commitSha, entryId } from "../../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { breachesOf, unexplained } from "../../../shared/queue/engine/invariants.ts";
import { missingOf } from "../../../shared/queue/engine/readiness.ts";
import { isInProgress } from "../../../shared/queue/engine/runs.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type {
  Decision,
  Effect,
  Entry,
  QueueConfig,
  QueueEvent,
  QueueState,
  Settings,
} from "../../../shared/queue/engine/types.ts";
import { requiredNow } from "../../../shared/queue/engine/verdict.ts";
import { aState, aSubmission, itemsOf, START } from "../../support/queue.ts";
import { type Content, shaOf, World } from "./world.ts";

export const STEP_ITEMS_PROMISED = 55;
const MORE_MAX = 300;

/** Which command, and three numbers that say on what. */
export type Command = readonly [number, number, number];

const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];

export class Player {
  readonly world = new World();
  state: QueueState;
  now: EpochMs = START;
  wakeAt: EpochMs | undefined;
  readonly outbox: Effect[] = [];
  readonly performed: Effect[] = [];
  readonly mail: QueueEvent[] = [];
  readonly problems: string[] = [];
  readonly ended = new Map<string, Entry>();
  readonly log: string[] = [];
  private submissions = 0;

  constructor(settings: Partial<Settings> = {}) {
    this.state = aState(settings);
  }

  /** One event and everything that follows at once, looked at step by step. */
  tell(event: QueueEvent): void {
    let next: QueueEvent = event;
    for (let steps = 0; steps < MORE_MAX; steps += 1) {
      const decision = this.stepOnce(next);
      if (!decision.more) return;
      next = { type: "wake" };
    }
    this.problems.push(`no end of steps after ${event.type}`);
  }

  private stepOnce(event: QueueEvent): Decision {
    const { state, now } = this;
    const decision = step(state, event, now);
    this.log.push(`${event.type} ${JSON.stringify(event)}`);
    for (const move of decision.moves)
      this.log.push(`    #${move.prNumber} ${move.from} > ${move.to} ${move.reason}: ${move.message}`);
    for (const effect of decision.effects) this.log.push(`    ${effect.key}`);
    this.problems.push(
      ...breachesOf(state, decision, now),
      ...unexplained(decision.state, now),
      ...this.repeated(event, decision),
      ...this.counted(decision),
    );
    this.landings(decision);
    this.state = decision.state;
    this.wakeAt = decision.wakeAt;
    this.outbox.push(...decision.effects);
    for (const entry of decision.endedEntries) this.ended.set(entry.id, entry);
    return decision;
  }

  /** The same again: the same decision from the same state, and nothing more from the state that it made. */
  private repeated(event: QueueEvent, decision: Decision): readonly string[] {
    const { state, now } = this;
    const found: string[] = [];
    if (!isDeepStrictEqual(step(state, event, now), decision)) found.push(`${event.type} is not deterministic`);
    if (decision.more || event.type === "news") return found;
    if (event.type === "asked" && event.asked.restart !== undefined) return found;
    if (event.type === "submitted" && !decision.state.entries.has(event.entry.id)) return found;
    const again = step(decision.state, event, now);
    if (!isDeepStrictEqual(again.state, decision.state)) found.push(`${event.type} twice is not ${event.type} once`);
    if (again.effects.length + again.moves.length > 0) found.push(`${event.type} twice does something twice`);
    return found;
  }

  private counted(decision: Decision): readonly string[] {
    const items = itemsOf(this.state, decision);
    const { wakeAt } = decision;
    return [
      ...(items > STEP_ITEMS_PROMISED ? [`a step of ${items} items`] : []),
      ...(wakeAt !== undefined && wakeAt <= this.now ? ["wakes in the past"] : []),
    ];
  }

  /** What is sent to land was tested, passed everything that is required, and stands on what the target holds. */
  private landings({ effects, state }: Decision): void {
    for (const effect of effects) {
      if (effect.type !== "land" || state.landing?.attempt !== 1) continue;
      const run = effect.run === null ? undefined : this.world.runs.get(effect.run);
      const content: Content = run?.content ?? [];
      if (shaOf(content) !== effect.commit) this.problems.push(`${effect.key}: not the tested content`);
      const required = requiredNow(state).statuses;
      if (required.length === 0 || !required.every((context) => run?.statuses.get(context) === "SUCCESS"))
        this.problems.push(`${effect.key}: the host does not show it as passed`);
      const expected = [
        ...(this.world.commits.get(effect.expectedTip) ?? []),
        ...effect.changes.map((one) => one.headSha),
      ];
      if (content.join() !== expected.join())
        this.problems.push(`${effect.key}: its content does not follow from the tip`);
    }
  }

  play([kind, a, b]: Command): void {
    const number = 1 + (a % 8);
    const entries = [...this.state.entries.values()];
    const entry = pick(entries, a);
    switch (kind) {
      case 0:
      case 1:
        return this.submit(number, b);
      case 2:
      case 3:
      case 4:
      case 5:
        return this.perform(a, b);
      case 6:
      case 7:
      case 8:
      case 9:
        return this.deliver(a, b);
      case 10:
      case 11:
      case 12:
        return this.check(a, b);
      case 13:
        return this.passTime(a, b);
      case 14:
        return this.meddle(number, b);
      case 15:
        return this.moveTarget(number, b);
      case 16:
        return this.configure(a, b);
      case 17:
        if (entry !== undefined) this.wish(entry, b);
        return;
      case 18:
        return this.breakRun(a);
      case 19:
        this.mail.push({ type: "news", prNumbers: [number], tip: null });
        return;
      default:
        return this.tell({ type: "wake" });
    }
  }

  submit(number: number, b: number): void {
    if ([...this.state.entries.values()].some((entry) => entry.prNumber === number)) return;
    this.submissions += 1;
    const id = entryId(`e${this.submissions}`);
    if (b % 4 === 0) this.world.bad.add(`${number}@${this.world.pr(number).version}`);
    const value = b % 7 === 0 ? 0 : b % 3 === 0 ? 50 : 100;
    const pr = b % 5 === 0 ? null : this.world.pr(number).facts;
    const entry = aSubmission(number, this.now, { id, pr, factsAt: pr === null ? null : this.now });
    this.tell({ type: "submitted", entry: { ...entry, priority: { value, byDefault: false } } });
    if (pr === null) this.mail.push({ type: "news", prNumbers: [number], tip: null });
  }

  /** Some effect of the outbox is done; one that was done may be done again. */
  perform(a: number, b: number): void {
    const again = b % 9 === 0 ? pick(this.performed, a) : undefined;
    const effect = again ?? pick(this.outbox, a);
    if (effect === undefined) return;
    if (again === undefined) {
      this.outbox.splice(this.outbox.indexOf(effect), 1);
      this.performed.push(effect);
    }
    const answer = b % 11 === 0 && again === undefined ? this.outage(effect) : this.world.perform(effect, this.now);
    if (answer !== undefined) this.mail.push(answer);
  }

  private outage(effect: Effect): QueueEvent | undefined {
    const what = "the host does not answer";
    switch (effect.type) {
      case "build-run":
        return { type: "run-not-built", run: effect.run, why: { kind: "INFRASTRUCTURE", what } };
      case "land":
        // It may have happened all the same.
        if (this.now % 2 === 0) this.world.perform(effect, this.now);
        return { type: "not-landed", landing: effect.landing, why: { kind: "INFRASTRUCTURE", what } };
      case "read-pull-request":
        return { type: "pull-request-unknown", prNumber: effect.prNumber, kind: "UNREACHABLE", what };
      case "repeat-checks":
        return { type: "run-broken", run: effect.run, what };
      case "compare-targets":
      case "compute-targets":
        return undefined;
      case "read-statuses":
      case "read-tip":
      case "close-run":
        return this.world.perform(effect, this.now);
    }
  }

  deliver(a: number, b: number): void {
    const event = pick(this.mail, b % 3 === 0 ? 0 : a);
    if (event === undefined) return;
    if (b % 6 !== 0) this.mail.splice(this.mail.indexOf(event), 1);
    this.tell(event);
  }

  /** A check ends, now and then otherwise than it should; the report may be lost. */
  check(a: number, b: number): void {
    const live = [...this.state.runs.keys()].filter((id) => this.world.runs.has(id));
    const id = pick(live, a);
    const run = id === undefined ? undefined : this.world.runs.get(id);
    if (id === undefined || run === undefined) return;
    for (const context of b % 4 === 0 ? ["unit"] : ["unit", "lint"]) {
      if (run.statuses.has(context)) continue;
      const flaky = b % 10 === 0;
      this.world.report(id, context, flaky ? "FAILURE" : this.world.truth(run.content, context));
    }
    const event = this.world.statuses(id, null);
    if (event !== undefined && b % 7 !== 0) this.mail.push(event);
  }

  passTime(a: number, b: number): void {
    const to = this.wakeAt;
    const by = b % 5 === 0 ? (a % 400) * MINUTE_MS : a * 100;
    this.now = b % 2 === 0 && to !== undefined ? epochMs(Math.max(this.now, to)) : epochMs(this.now + by);
    this.tell({ type: "wake" });
  }

  /** Somebody does something to a pull request; the host may or may not tell. */
  meddle(number: number, b: number): void {
    const { world } = this;
    const act = b % 9;
    if (act === 0) world.push(number);
    else if (act === 1) world.change(number, { state: "CLOSED" });
    else if (act === 2) world.change(number, { state: "OPEN" });
    else if (act === 3) world.change(number, { draft: !world.pr(number).facts.draft });
    else if (act === 4)
      world.change(number, { baseBranch: world.pr(number).facts.baseBranch === "main" ? "other" : "main" });
    else if (act === 5) world.change(number, { mergeability: "NOT_MERGEABLE" });
    else if (act === 6) world.change(number, { mergeability: "MERGEABLE" });
    else if (act === 7) world.toggleRefusal(number);
    else {
      const other = world.pr(1 + (b % 8)).facts.headSha;
      const pair = `${other}|${world.pr(number).facts.headSha}`;
      if (other !== world.pr(number).facts.headSha) (b % 2 === 0 ? world.clashes : world.textual).add(pair);
    }
    if (b % 4 !== 0) this.mail.push({ type: "news", prNumbers: [number], tip: null });
  }

  moveTarget(number: number, b: number): void {
    const { world } = this;
    const act = b % 6;
    if (act <= 1) world.pushToTarget();
    else if (act === 2) world.mergeByHand(number);
    else if (act === 3 && world.target !== null)
      world.target = world.target.slice(0, Math.max(1, world.target.length - 1));
    else if (act === 4) world.target = null;
    else world.target ??= ["base"];
    const sha = b % 5 === 0 || world.target === null ? null : world.tip().sha;
    if (b % 3 !== 0) this.mail.push({ type: "news", prNumbers: [], tip: { sha } });
  }

  configure(a: number, b: number): void {
    const { config } = this.state;
    const settings: Partial<Settings>[] = [
      { concurrency: 1 + (a % 4) },
      { retriesBeforeFailure: a % 4 },
      { requiredStatuses: pick([null, ["unit"], ["unit", "lint"], ["lint"], ["unit", "nothing"]], a) ?? null },
      { testingTimeoutMinutes: pick([0, 30, 300], a) ?? 0 },
      { mode: pick(["SINGLE", "PARALLEL"] as const, a) ?? "SINGLE" },
    ];
    const window = {
      id: "w",
      action: pick(["DRAIN", "PAUSE"] as const, a) ?? "DRAIN",
      startsAt: epochMs(this.now + (a % 10) * MINUTE_MS),
      endsAt: epochMs(this.now + (10 + (a % 20)) * MINUTE_MS),
      reason: null,
      allowUrgent: a % 2 === 0,
    };
    const operator = {
      state: pick(["RUNNING", "RUNNING", "PAUSED", "DRAINING"] as const, a) ?? "RUNNING",
      reason: null,
      since: this.now,
      allowUrgent: a % 3 === 0,
    };
    const changes: readonly Partial<QueueConfig>[] = [
      ...settings.map((one) => ({ settings: { ...config.settings, ...one } })),
      { windows: [window] },
      { windows: [] },
      { operator },
      { holdsClearedAt: this.now },
    ];
    this.tell({ type: "configured", config: { ...config, ...pick(changes, b) } });
  }

  wish(entry: Entry, b: number): void {
    const by = { by: "bob", at: this.now };
    const value = b % 3 === 0 ? 0 : b % 255;
    const asked = pick([{ cancel: by }, { restart: by }, { priority: { value, byDefault: false } }], b);
    if (asked !== undefined) this.tell({ type: "asked", entry: entry.id, asked });
  }

  breakRun(a: number): void {
    const live = [...this.state.runs.values()].filter(isInProgress);
    const run = pick(live, a);
    if (run !== undefined) this.mail.push({ type: "run-broken", run: run.id, what: "the runner died" });
  }

  /** Nothing bad happens any more: whatever was lost is told again, and time passes as the engine asks for it. */
  settle(): void {
    const { config } = this.state;
    const operator = { state: "RUNNING", reason: null, since: this.now, allowUrgent: false } as const;
    this.world.target ??= ["base"];
    this.tell({ type: "configured", config: { ...config, operator, windows: [], holdsClearedAt: this.now } });
    for (let round = 0; round < 600 && this.isUnsettled(); round += 1) this.settleOnce(round);
    if (this.isUnsettled()) {
      const left = [...this.state.entries.values()].map((one) => `#${one.prNumber} ${one.state}`).join(", ");
      this.problems.push(
        `does not settle: ${left}; runs ${[...this.state.runs.values()].map((one) => `${one.id} ${one.phase}`).join(", ")}`,
      );
    }
  }

  private isUnsettled(): boolean {
    return [...this.state.entries.values()].some(
      (entry) => entry.state !== "NOT_READY" || missingOf(this.state, entry).length === 0,
    );
  }

  private settleOnce(round: number): void {
    for (const effect of this.outbox.splice(0)) {
      const answer = this.world.perform(effect, this.now);
      if (answer !== undefined) this.mail.push(answer);
    }
    for (const event of this.mail.splice(0)) this.tell(event);
    for (const run of this.state.runs.values()) {
      const host = this.world.runs.get(run.id);
      if (host === undefined || !isInProgress(run)) continue;
      for (const context of ["unit", "lint"])
        if (!host.statuses.has(context)) host.statuses.set(context, this.world.truth(host.content, context));
      const event = this.world.statuses(run.id, this.now);
      if (event !== undefined) this.mail.push(event);
    }
    if (this.outbox.length + this.mail.length > 0) return;
    // The sweep: what was lost is seen again; then the engine's own hour, or one of ours.
    this.sweep();
    if (round % 7 === 6 && this.state.holds.length > 0)
      this.tell({ type: "configured", config: { ...this.state.config, holdsClearedAt: this.now } });
    const ahead = round % 3 === 2 ? (this.wakeAt ?? epochMs(this.now + HOUR_MS)) : epochMs(this.now + MINUTE_MS);
    this.now = epochMs(Math.max(this.now, Math.min(ahead, this.now + 6 * HOUR_MS)));
    this.tell({ type: "wake" });
  }

  private sweep(): void {
    const prNumbers = [...this.state.entries.values()].map((entry) => entry.prNumber);
    const sha = this.world.target === null ? null : commitSha(shaOf(this.world.target));
    this.tell({ type: "news", prNumbers, tip: { sha } });
  }
}
