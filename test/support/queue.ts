/**
 * A queue driven by hand, in one-word verbs. Events go in; states, moves and effects come out as plain lists.
 * Holds no assertions: `breaches` collects what the invariants say, for a test to look at.
 *
 *     const queue = aQueue({ concurrency: 2 }).opens().submits(1, 2);
 *     queue.builds(1).passes(1).lands();
 *     expect(queue.moves()).toEqual([...]);
 */
import {
  type CommitSha,
  commitSha,
  type EntryId,
  entryId,
  queueId,
  type RunId,
  runId,
  treeSha,
} from "../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS } from "../../shared/kernel/time.ts";
import { explain } from "../../shared/queue/engine/explain.ts";
import type { Explanation } from "../../shared/queue/engine/telling.ts";
import { breachesOf, unexplained } from "../../shared/queue/engine/invariants.ts";
import { newQueue } from "../../shared/queue/engine/new-queue.ts";
import { admittedInOrder } from "../../shared/queue/engine/order.ts";
import { step } from "../../shared/queue/engine/step.ts";
import type {
  Asked,
  CheckState,
  Decision,
  Effect,
  Entry,
  EntryState,
  Move,
  NewEntry,
  NotBuilt,
  NotLanded,
  PullRequestFacts,
  QueueConfig,
  QueueEvent,
  QueueState,
  Run,
  Settings,
  StatusCheck,
  Tip,
} from "../../shared/queue/engine/types.ts";

export const START = epochMs(1_700_000_000_000);

export const someSettings = (change: Partial<Settings> = {}): Settings => ({
  mode: "SINGLE",
  concurrency: 5,
  bisectionConcurrency: 5,
  batch: false,
  batchingMinSize: 4,
  batchingMaxWaitTimeMinutes: 5,
  testingTimeoutMinutes: 300,
  notReadyTimeoutHours: 168,
  pendingFailureDepth: 0,
  forgiveQuarantined: false,
  canOptimisticallyMerge: false,
  optimizationMode: "OFF",
  retriesBeforeFailure: 1,
  directMergeMode: "OFF",
  mergeMethod: "SQUASH",
  requiredStatuses: null,
  ...change,
});

export const aState = (settings: Partial<Settings> = {}): QueueState => {
  const config: QueueConfig = {
    settings: someSettings(settings),
    operator: { state: "RUNNING", reason: null, since: START, allowUrgent: false },
    holdsClearedAt: null,
    windows: [],
  };
  return newQueue(queueId("q"), "main", config);
};

export const aPullRequest = (number: number, change: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  number,
  state: "OPEN",
  draft: false,
  title: `Change ${number}`,
  url: `https://git.local/acme/app/pull/${number}`,
  author: { name: "Ann", email: "ann@example.org" },
  headSha: commitSha(`head${number}`),
  headBranch: `feature-${number}`,
  baseBranch: "main",
  fromFork: false,
  mergeability: "MERGEABLE",
  judgedOn: null,
  obstacle: null,
  ...change,
});

export const aSubmission = (number: number, at: EpochMs, change: Partial<NewEntry> = {}): NewEntry => ({
  id: entryId(`e${number}`),
  prNumber: number,
  submittedAt: at,
  submittedBy: "ann",
  pr: aPullRequest(number),
  factsAt: at,
  trouble: null,
  priority: { value: 100, byDefault: true },
  noBatch: false,
  targets: null,
  ...change,
});

export const aTip = (sha: string, required: readonly string[] | null = ["unit"]): Tip => ({
  sha: commitSha(sha),
  tree: treeSha(`tree-of-${sha}`),
  required: required === null ? null : { source: "CONFIG_FILE", statuses: required },
  configProblem: null,
});

export const status = (context: string, state: CheckState): StatusCheck => ({
  context,
  state,
  url: null,
  description: null,
});

/** Items of the transaction that would carry the decision, counted as the loop counts them. */
export function itemsOf(before: QueueState, decision: Decision): number {
  let items = decision.moves.length + decision.effects.length;
  items += decision.endedEntries.length * 3 + decision.endedRuns.length * 2;
  for (const entry of decision.state.entries.values()) if (before.entries.get(entry.id) !== entry) items += 2;
  for (const run of decision.state.runs.values()) if (before.runs.get(run.id) !== run) items += 1;
  return items;
}

const STEPS_MAX = 1000;

const told: string[] = [];
/** What the invariants said of every queue since the last call. */
export const breachesSince = (): readonly string[] => told.splice(0);

export type Reported = Readonly<Record<string, CheckState>>;

export class ScriptedQueue {
  state: QueueState;
  now: EpochMs = START;
  last: Decision | undefined;
  steps = 0;
  readonly ended = new Map<number, Entry>();
  readonly outbox: Effect[] = [];
  private readonly untold: Move[] = [];
  private isWatched = true;
  private unseen: Effect[] = [];

  constructor(state: QueueState) {
    this.state = state;
  }

  /** One event, and all steps that follow from it at once. */
  event(event: QueueEvent): this {
    this.once(event);
    for (let steps = 0; this.last?.more === true; steps += 1) {
      if (steps === STEPS_MAX) throw new Error(`no end of steps after ${event.type}`);
      this.once({ type: "wake" });
    }
    return this;
  }

  /** One event and one step, even if more is due. */
  once(event: QueueEvent): this {
    const decision = step(this.state, event, this.now);
    if (this.isWatched)
      told.push(...breachesOf(this.state, decision, this.now), ...unexplained(decision.state, this.now));
    this.state = decision.state;
    this.last = decision;
    this.steps += 1;
    for (const entry of decision.endedEntries) this.ended.set(entry.prNumber, entry);
    this.untold.push(...decision.moves);
    this.unseen.push(...decision.effects);
    this.outbox.push(...decision.effects);
    return this;
  }

  /** Makes it long. Its promises are looked at when that is done: each time would take longer than all that follows. */
  fills(count: number, add: (number: number) => unknown): this {
    this.isWatched = false;
    for (let number = 1; number <= count; number += 1) add(number);
    this.isWatched = true;
    return this.event({ type: "wake" });
  }

  // People

  submits(...numbers: readonly number[]): this {
    for (const number of numbers) this.submitsWith(number, {});
    return this;
  }

  submitsWith(number: number, change: Partial<NewEntry>): this {
    return this.after(1000).event({ type: "submitted", entry: aSubmission(number, this.now, change) });
  }

  submitsUrgently(number: number): this {
    return this.submitsWith(number, { priority: { value: 0, byDefault: false } });
  }

  asks(number: number, asked: Asked): this {
    return this.event({ type: "asked", entry: this.entry(number).id, asked });
  }

  cancels(number: number): this {
    return this.asks(number, { cancel: { by: "bob", at: this.now } });
  }

  restarts(number: number): this {
    return this.asks(number, { restart: { by: "bob", at: this.now } });
  }

  prioritises(number: number, value: number): this {
    return this.asks(number, { priority: { value, byDefault: false } });
  }

  configures(change: Partial<QueueConfig>): this {
    return this.event({ type: "configured", config: { ...this.state.config, ...change } });
  }

  sets(change: Partial<Settings>): this {
    return this.configures({ settings: { ...this.state.config.settings, ...change } });
  }

  turns(state: QueueConfig["operator"]["state"], allowUrgent = false): this {
    return this.configures({ operator: { state, reason: null, since: this.now, allowUrgent } });
  }

  clears(): this {
    return this.configures({ holdsClearedAt: this.now });
  }

  // The code host

  /** Answers the read of the tip that is under way. */
  opens(sha = "T0", required: readonly string[] | null = ["unit"]): this {
    if (this.state.tipRead === null) this.event({ type: "news", prNumbers: [], tip: { sha: null } });
    this.state = { ...this.state, tipDoubted: false, tipRead: null, tip: aTip(sha, required) };
    return this;
  }

  answersTip(sha: string, reached: readonly string[] = [], required: readonly string[] | null = ["unit"]): this {
    const read = this.state.tipRead ?? -1;
    return this.event({ type: "tip", read, tip: aTip(sha, required), reached: reached.map(commitSha) });
  }

  /** Somebody else moves the target: the news comes, and the read that follows from it is answered. */
  pushes(sha: string, reached: readonly string[] = []): this {
    this.event({ type: "news", prNumbers: [], tip: { sha: commitSha(sha) } });
    return this.answersTip(sha, reached);
  }

  facts(number: number, change: Partial<PullRequestFacts>): this {
    this.now = epochMs(this.now + 1);
    const facts = { ...(this.entry(number).pr ?? aPullRequest(number)), ...change };
    return this.event({ type: "pull-request", prNumber: number, facts, readAt: this.now });
  }

  builds(...numbers: readonly number[]): this {
    for (const number of numbers) this.builtRun(this.run(number, "BUILDING").id);
    return this;
  }

  builtRun(run: RunId): this {
    return this.event({ type: "run-built", run, commit: commitSha(`commit-${run}`), tree: treeSha(`tree-${run}`) });
  }

  cannotBuild(number: number, why: NotBuilt): this {
    return this.event({ type: "run-not-built", run: this.run(number, "BUILDING").id, why });
  }

  passes(...numbers: readonly number[]): this {
    for (const number of numbers) this.reports(number, this.all(number, "SUCCESS"));
    return this;
  }

  fails(...numbers: readonly number[]): this {
    for (const number of numbers) this.reports(number, this.all(number, "FAILURE"));
    return this;
  }

  reports(number: number, reported: Reported, more: { complete?: boolean; readAt?: EpochMs } = {}): this {
    const run = this.run(number, "TESTING", "REPEATING", "FAILED");
    return this.reportsOn(run.id, reported, more);
  }

  reportsOn(
    run: RunId,
    reported: Reported,
    more: { complete?: boolean; readAt?: EpochMs; repeats?: number } = {},
  ): this {
    return this.event({
      type: "statuses",
      run,
      repeats: more.repeats ?? this.state.runs.get(run)?.repeats ?? 0,
      statuses: Object.entries(reported).map(([context, state]) => status(context, state)),
      complete: more.complete ?? true,
      readAt: more.readAt ?? null,
    });
  }

  breaks(number: number, what = "the runner died"): this {
    return this.event({ type: "run-broken", run: this.run(number, "BUILDING", "TESTING", "REPEATING").id, what });
  }

  /** The landing that was sent succeeds; the target holds the tested commit then. */
  lands(more: Partial<Extract<QueueEvent, { type: "landed" }>> = {}): this {
    const { landing } = this.state;
    if (landing === null) throw new Error("nothing is landing");
    const sha = (landing.run === null ? undefined : this.state.runs.get(landing.run))?.commit ?? "?";
    const event = {
      type: "landed",
      landing: landing.id,
      tip: aTip(sha),
      trees: "EQUAL",
      entries: landing.group,
    } as const;
    return this.event({ ...event, onMovedTip: false, ...more });
  }

  refuses(why: NotLanded): this {
    return this.event({ type: "not-landed", landing: this.state.landing?.id ?? "none", why });
  }

  // Time

  after(ms: number): this {
    this.now = epochMs(this.now + ms);
    return this;
  }

  waits(ms: number): this {
    return this.after(ms).event({ type: "wake" });
  }

  waitsHours(hours: number): this {
    return this.waits(hours * HOUR_MS);
  }

  /** Sleeps exactly as long as the engine said that nothing can happen. */
  sleeps(): this {
    const at = this.last?.wakeAt;
    return at === undefined ? this : this.after(at - this.now).event({ type: "wake" });
  }

  // What came out

  entry(number: number): Entry {
    for (const entry of this.state.entries.values()) if (entry.prNumber === number) return entry;
    const ended = this.ended.get(number);
    if (ended === undefined) throw new Error(`PR #${number} is not known`);
    return ended;
  }

  states(): Readonly<Record<number, EntryState>> {
    const live = [...this.state.entries.values()];
    return Object.fromEntries([...this.ended.values(), ...live].map((entry) => [entry.prNumber, entry.state]));
  }

  order(): readonly number[] {
    return admittedInOrder(this.state).map((entry) => entry.prNumber);
  }

  /** Moves since the last call: `#1 PENDING > TESTING (TEST_STARTED)`. */
  moves(): readonly string[] {
    return this.untold.splice(0).map((move) => `#${move.prNumber} ${move.from ?? "new"} > ${move.to} (${move.reason})`);
  }

  /** Keys of effects since the last call. */
  effects(): readonly string[] {
    return this.unseen.splice(0).map((effect) => effect.key);
  }

  forgets(): this {
    this.untold.length = 0;
    this.unseen = [];
    return this;
  }

  runs(number: number): readonly Run[] {
    const { id } = this.entry(number);
    return [...this.state.runs.values()].filter((run) => run.group.includes(id));
  }

  /** The PR's latest run that is in one of these phases. */
  run(number: number, ...phases: readonly Run["phase"][]): Run {
    const found = this.runs(number).findLast((run) => phases.length === 0 || phases.includes(run.phase));
    if (found === undefined) throw new Error(`PR #${number} has no run that is ${phases.join(" or ")}`);
    return found;
  }

  /** What a PR's runs are made of: `1+2` is #2 on #1. */
  contents(number: number): readonly string[] {
    const byId = new Map([...this.state.entries.values()].map((entry) => [entry.id, entry.prNumber]));
    return this.runs(number).map((run) =>
      [...run.predecessors, ...run.group].map((id) => byId.get(id) ?? id).join("+"),
    );
  }

  tipRun(): Run | undefined {
    return [...this.state.runs.values()].find((run) => run.kind === "TIP");
  }

  effect<T extends Effect["type"]>(type: T): Extract<Effect, { type: T }> | undefined {
    return this.outbox.findLast((one): one is Extract<Effect, { type: T }> => one.type === type);
  }

  explains(number: number): Explanation {
    return explain(this.state, this.entry(number), this.now);
  }

  private all(number: number, state: CheckState): Reported {
    const run = this.run(number, "TESTING", "REPEATING", "FAILED");
    return Object.fromEntries(run.required.map((context) => [context, state]));
  }
}

/** A queue that nobody has submitted to; `opens()` tells it its target. */
export const aQueue = (settings: Partial<Settings> = {}): ScriptedQueue => new ScriptedQueue(aState(settings));

/** A queue in which these PRs are admitted and being tested. */
export const testing = (numbers: readonly number[], settings: Partial<Settings> = {}): ScriptedQueue => {
  const queue = aQueue(settings)
    .opens()
    .submits(...numbers);
  return queue.builds(...numbers.slice(0, settings.concurrency ?? 5)).forgets();
};

export const id = (number: number): EntryId => entryId(`e${number}`);
export const run = (number: number): RunId => runId(`q-${number}`);
export const sha = (text: string): CommitSha => commitSha(text);
