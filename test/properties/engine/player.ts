/** Plays random commands on a queue and a world, and looks at everything that must hold after each step. */
import { isDeepStrictEqual } from "node:util";
import { type EntryId, entryId, type RunId } from "../../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { breachesOf, unexplained } from "../../../shared/queue/engine/invariants.ts";
import { isInProgress } from "../../../shared/queue/engine/run-index.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type {
  Decision,
  Effect,
  EndedRun,
  Entry,
  QueueEvent,
  QueueState,
  Settings,
} from "../../../shared/queue/engine/types.ts";
import { aState, aSubmission, itemsOf, START } from "../../support/queue.ts";
import { configure, meddle, moveTarget, wish } from "./acts.ts";
import { History } from "./history.ts";
import { judgeStep, type Look } from "./judges.ts";
import { pick, someNames, targetsOf } from "./names.ts";
import { judgeRest } from "./rest.ts";
import { World } from "./world.ts";

const STEP_ITEMS_PROMISED = 55;
const MORE_MAX = 300;

/** Which command, and two numbers that say on what. */
export type Command = readonly [number, number, number];

/** What happens how often, of forty. */
const ACTS = [
  [6, "submit"],
  [10, "perform"],
  [14, "deliver"],
  [18, "check"],
  [26, "work"],
  [28, "pass time"],
  [30, "meddle"],
  [31, "move the target"],
  [32, "configure"],
  [36, "wish"],
  [37, "break"],
  [38, "tell"],
] as const;
export const KINDS = 39;

const FLAKE = 10;

/** What else is to hold of each step. */
export type Judge = (look: Look) => readonly string[];

/** The engine, or a broken copy of it. */
export type Step = typeof step;

export class Player {
  readonly world = new World();
  readonly history = new History();
  state: QueueState;
  now: EpochMs = START;
  wakeAt: EpochMs | undefined;
  readonly outbox: Effect[] = [];
  readonly performed: Effect[] = [];
  readonly mail: QueueEvent[] = [];
  readonly problems: string[] = [];
  readonly ended = new Map<EntryId, Entry>();
  readonly log: string[] = [];
  private readonly more: Judge;
  private readonly step: Step;
  private submissions = 0;
  private started: RunId[] = [];
  private closed: EndedRun[] = [];
  private hasEnded = false;

  constructor(settings: Partial<Settings> = {}, more: Judge = () => [], engine: Step = step) {
    this.state = aState(settings);
    this.more = more;
    this.step = engine;
  }

  /** One event and everything that follows at once, looked at step by step. */
  tell(event: QueueEvent): void {
    let next: QueueEvent = event;
    for (let steps = 0; steps < MORE_MAX; steps += 1) {
      const decision = this.stepOnce(next);
      if (!decision.more) return this.rest(decision);
      next = { type: "wake" };
    }
    this.report(`no end of steps after ${event.type}`);
  }

  private stepOnce(event: QueueEvent): Decision {
    const { state, now, world, history } = this;
    const decision = this.step(state, event, now);
    this.log.push(`${(now - START) / 1000}s ${event.type} ${JSON.stringify(event)}`);
    for (const move of decision.moves)
      this.log.push(`    #${move.prNumber} ${move.from} > ${move.to} ${move.reason}: ${move.message}`);
    for (const { run, why } of decision.endedRuns) this.log.push(`    ${run.id} ended: ${why}`);
    for (const effect of decision.effects) this.log.push(`    ${effect.key}`);
    history.record(state, event, decision);
    const look = { before: state, event, decision, now, world, history };
    this.report(
      ...breachesOf(state, decision, now),
      ...unexplained(decision.state, now),
      ...this.repeated(event, decision),
      ...this.counted(decision),
      ...judgeStep(look),
      ...this.more(look),
    );
    for (const run of decision.state.runs.keys()) if (!state.runs.has(run)) this.started.push(run);
    this.closed.push(...decision.endedRuns);
    this.state = decision.state;
    this.wakeAt = decision.wakeAt;
    this.outbox.push(...decision.effects);
    for (const entry of decision.endedEntries) this.ended.set(entry.id, entry);
    this.hasEnded ||= decision.endedEntries.length > 0;
    return decision;
  }

  report(...problems: readonly string[]): void {
    this.problems.push(...problems);
    this.log.push(...problems.map((problem) => `!!! ${problem}`));
  }

  private rest(decision: Decision): void {
    const { state, world, history, now, started, closed: ended } = this;
    const { hasEnded } = this;
    this.report(...judgeRest({ decision, state, world, history, now, started, ended, hasEnded }));
    this.started = [];
    this.closed = [];
    this.hasEnded = false;
  }

  /** The same again: the same decision from the same state, and nothing more from the state that it made. */
  private repeated(event: QueueEvent, decision: Decision): readonly string[] {
    const { state, now } = this;
    const found: string[] = [];
    if (!isDeepStrictEqual(this.step(state, event, now), decision)) found.push(`${event.type} is not deterministic`);
    if (decision.more || event.type === "news") return found;
    if (event.type === "asked" && event.asked.restart !== undefined) return found;
    if (event.type === "submitted" && !decision.state.entries.has(event.entry.id)) return found;
    const again = this.step(decision.state, event, now);
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

  play([kind, a, b]: Command): void {
    const number = 1 + (a % 8);
    const entry = pick([...this.state.entries.values()], a);
    const act = ACTS.find(([upTo]) => kind < upTo)?.[1];
    switch (act) {
      case "submit":
        return this.submit(number, b);
      case "perform":
        return this.perform(a, b);
      case "deliver":
        return this.deliver(a, b);
      case "check":
        return this.check(a, b);
      case "work":
        return this.work(a, b);
      case "pass time":
        return this.passTime(a, b);
      case "meddle":
        return meddle(this, number, b);
      case "move the target":
        return moveTarget(this, number, b);
      case "configure":
        return configure(this, a, b);
      case "wish":
        if (entry !== undefined) wish(this, entry, b);
        return;
      case "break":
        return this.breakRun(a);
      case "tell":
        this.mail.push({ type: "news", prNumbers: [number], tip: null });
        return;
      case undefined:
        return this.tell({ type: "wake" });
    }
  }

  /** All goes as it should for a while. */
  private work(a: number, b: number): void {
    for (let times = 0; times <= b % 4; times += 1) {
      for (let left = this.outbox.length; left > 0; left -= 1) this.perform(a + left, 1);
      for (let left = this.mail.length; left > 0; left -= 1) this.deliver(a + left, 1);
      for (let left = this.state.runs.size; left > 0; left -= 1) this.check(a + left, (a * left) % 7 === 0 ? FLAKE : 1);
    }
  }

  submit(number: number, b: number): void {
    if ([...this.state.entries.values()].some((entry) => entry.prNumber === number)) return;
    const { world } = this;
    // Whoever has landed, or was closed, comes with something new.
    if (world.pr(number).facts.state !== "OPEN" && b % 11 !== 0) world.reopen(number);
    if (b % 10 === 0) world.rebase(number);
    this.submissions += 1;
    const id = entryId(`e${this.submissions}`);
    const head = world.pr(number).facts.headSha;
    if (!world.impacts.has(head)) world.impacts.set(head, someNames(b >> 3));
    if (b % 6 === 0) world.bad.add(head);
    const value = b % 7 === 0 ? 0 : b % 3 === 0 ? 50 : 100;
    const pr = b % 6 === 0 ? null : world.factsOf(number);
    // Now and then nobody has sent its targets yet, or somebody sent others than it really impacts.
    const targets = b % 13 === 0 ? null : targetsOf(b % 17 === 0 ? someNames(b) : world.impactOf(head));
    const known = { pr, factsAt: pr === null ? null : this.now, targets, noBatch: b % 19 === 0 };
    const priority = { value, byDefault: false };
    this.tell({ type: "submitted", entry: aSubmission(number, this.now, { id, ...known, priority }) });
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
    const fails = b % 11 === 0 && again === undefined;
    const answer = fails ? this.outage(effect) : this.world.perform(effect, this.state, this.now);
    if (answer !== undefined) this.mail.push(answer);
  }

  private outage(effect: Effect): QueueEvent | undefined {
    const what = "the host does not answer";
    switch (effect.type) {
      case "build-run":
        return { type: "run-not-built", run: effect.run, why: { kind: "INFRASTRUCTURE", what } };
      case "land":
        // It may have happened all the same.
        if (this.now % 2 === 0) this.world.perform(effect, this.state, this.now);
        return { type: "not-landed", landing: effect.landing, why: { kind: "INFRASTRUCTURE", what } };
      case "read-pull-request":
        return { type: "pull-request-unknown", prNumber: effect.prNumber, kind: "UNREACHABLE", what };
      case "repeat-checks":
        return { type: "run-broken", run: effect.run, what };
      case "compare-targets":
      case "compute-targets":
        // Its answer is lost; it is done once more.
        this.outbox.push(effect);
        return undefined;
      case "read-statuses":
      case "read-tip":
      case "close-run":
      case "ask-forgiveness":
        return this.world.perform(effect, this.state, this.now);
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
    const { world } = this;
    const id = pick(
      [...this.state.runs.keys()].filter((run) => world.runs.has(run)),
      a,
    );
    const run = id === undefined ? undefined : world.runs.get(id);
    if (id === undefined || run === undefined) return;
    for (const context of b % 4 === 0 ? ["unit"] : ["unit", "lint"])
      if (!run.statuses.has(context))
        run.statuses.set(context, b % 10 === 0 ? "FAILURE" : world.truth(run.content, context));
    const event = world.statuses(id, null);
    if (event !== undefined && b % 7 !== 0) this.mail.push(event);
  }

  passTime(a: number, b: number): void {
    const to = this.wakeAt;
    const by = b % 5 === 0 ? (a % 400) * MINUTE_MS : a * 100;
    const isNear = to !== undefined && (to < this.now + 6 * HOUR_MS || b % 16 === 0);
    this.now = b % 2 === 0 && isNear ? epochMs(Math.max(this.now, to)) : epochMs(this.now + by);
    this.tell({ type: "wake" });
  }

  private breakRun(a: number): void {
    const run = pick([...this.state.runs.values()].filter(isInProgress), a);
    if (run !== undefined) this.mail.push({ type: "run-broken", run: run.id, what: "the runner died" });
  }
}
