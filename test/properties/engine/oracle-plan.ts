/** What a queue at rest must have started, landed and judged, by the rules, found by trying everything. */
import type { EntryId } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Entry, QueueState, Run } from "../../../shared/queue/engine/types.ts";
import type { History } from "./history.ts";
import { isLive, type NaiveGroup, naiveAhead, naiveGroups, naivePredecessors } from "./oracle-line.ts";
import { type NaiveStanding, naiveStanding } from "./oracle-standing.ts";

const RUNNING: readonly Run["phase"][] = ["BUILDING", "TESTING", "REPEATING"];

export const isUrgent = (entry: Entry): boolean => entry.priority.value === 0;

/** The queue is PAUSED for it: by a hold of the service, the operator, or a window that is open. */
export function isStopped({ holds, config }: QueueState, now: EpochMs, entry: Entry): boolean {
  if (holds.length > 0) return true;
  const passes = (allowUrgent: boolean): boolean => allowUrgent && isUrgent(entry);
  if (config.operator.state === "PAUSED" && !passes(config.operator.allowUrgent)) return true;
  return config.windows.some(
    (one) => one.action === "PAUSE" && one.startsAt <= now && now < one.endsAt && !passes(one.allowUrgent),
  );
}

/** All that the rules say of one queue at one moment. */
export class Oracle {
  readonly state: QueueState;
  readonly now: EpochMs;
  private readonly history: History;
  readonly groups: readonly NaiveGroup[];
  readonly standings: ReadonlyMap<Run, NaiveStanding>;
  readonly cleared: ReadonlySet<EntryId>;

  constructor(state: QueueState, history: History, now: EpochMs) {
    this.state = state;
    this.now = now;
    this.history = history;
    this.groups = naiveGroups(state);
    this.standings = new Map(
      [...state.runs.values()].map((run) => [run, naiveStanding(state, history, this.groups, run)]),
    );
    this.cleared = this.clearedOnes();
  }

  /** Of a run that may have ended since. */
  standingOf(run: Run): NaiveStanding {
    return naiveStanding(this.state, this.history, this.groups, run);
  }

  isBisected(id: EntryId): boolean {
    return this.groups.some((group) => group.bisected && group.members.includes(id));
  }

  runsOf(group: NaiveGroup): readonly Run[] {
    return [...this.state.runs.values()].filter((run) => group.members.some((id) => run.group.includes(id)));
  }

  entriesOf(group: NaiveGroup): readonly Entry[] {
    return group.members.flatMap((id) => this.state.entries.get(id) ?? []);
  }

  isLanding(id: EntryId): boolean {
    return this.state.landing?.group.includes(id) === true;
  }

  ahead(group: NaiveGroup): readonly EntryId[] {
    return naivePredecessors(this.state, this.groups, group);
  }

  /** Contained in a run that passed, leaves nobody out, and holds all that it and the others in it depend on. */
  private clearedOnes(): ReadonlySet<EntryId> {
    const found = new Set<EntryId>();
    if (!this.state.config.settings.canOptimisticallyMerge) return found;
    for (const [run, standing] of this.standings) {
      if (run.phase !== "PASSED" || standing.kind !== "GOOD" || standing.without.length > 0 || standing.stale) continue;
      const all = [...standing.before, ...run.group];
      const isWhole = (id: EntryId): boolean => {
        const group = this.groups.find((one) => one.members.includes(id));
        return group !== undefined && [...group.members, ...this.ahead(group)].every((one) => all.includes(one));
      };
      // Whom the host refused before lands alone.
      if (all.some((id) => (this.state.entries.get(id)?.refusal ?? null) !== null)) continue;
      if (all.every(isWhole)) for (const id of standing.before) found.add(id);
    }
    return found;
  }

  isLikely(id: EntryId): boolean {
    if (this.isLanding(id) || this.cleared.has(id)) return true;
    const entry = this.state.entries.get(id);
    if (entry === undefined) return false;
    if (entry.state === "PENDING_FAILURE") return this.isExplained(entry);
    if (entry.conflictsWith === null) return true;
    // Whom it conflicts with has landed, if it is gone: the host is still to say that it can be merged all the same.
    const opponent = this.state.entries.get(entry.conflictsWith);
    return opponent !== undefined && (!isLive(opponent) || opponent.state === "PENDING_FAILURE");
  }

  /** None of its failed tests was on likely ones alone: another of those that it held may be why. */
  private isExplained({ id }: Entry): boolean {
    const failed = [...this.standings].filter(([run]) => run.group.includes(id) && run.failure !== null);
    return (
      failed.length > 0 &&
      failed.every(([, standing]) => standing.kind === "GOOD" && standing.before.some((other) => !this.isLikely(other)))
    );
  }

  /** Those ahead that are assumed not to land, if each outcome is the likelier one. */
  likelyOut(group: NaiveGroup): readonly EntryId[] {
    return this.ahead(group).filter((id) => !this.isLikely(id));
  }

  /** What its runs say it is; undefined where the rules leave it open. */
  stateOf(entry: Entry): Entry["state"] | undefined {
    const runs = [...this.state.runs.values()].filter((run) => run.group.includes(entry.id));
    if (runs.some((run) => this.standings.get(run)?.kind === "EITHER")) return undefined;
    const passed = runs.some((run) => run.phase === "PASSED" && this.isOnLikelyPath(run));
    if (passed || this.cleared.has(entry.id)) return "TESTS_PASSED";
    if (runs.some((run) => run.phase === "TESTING")) return "TESTING";
    return runs.some((run) => run.phase === "FAILED" || run.phase === "REPEATING") ? "PENDING_FAILURE" : "PENDING";
  }

  private isOnLikelyPath(run: Run): boolean {
    const standing = this.standings.get(run);
    if (standing?.kind !== "GOOD") return false;
    return standing.before.every((id) => this.isLikely(id)) && !standing.without.some((id) => this.isLikely(id));
  }

  freeSlots(bisected: boolean): number {
    const { concurrency, bisectionConcurrency } = this.state.config.settings;
    const used = [...this.state.runs.values()].filter(
      (run) => RUNNING.includes(run.phase) && (run.kind === "BISECTION") === bisected,
    ).length;
    return (bisected ? bisectionConcurrency : concurrency) - used;
  }

  /** The target is known and there: tests may be built on it. */
  hasTip(): boolean {
    const { tip, tipDoubted, holds } = this.state;
    return tip !== null && !tipDoubted && !holds.some((hold) => hold.kind === "TARGET_MISSING");
  }

  private mayStart(group: NaiveGroup): boolean {
    return this.entriesOf(group).every(
      (entry) =>
        !this.isLanding(entry.id) &&
        !isStopped(this.state, this.now, entry) &&
        (entry.broken === null || entry.broken.retryAt <= this.now),
    );
  }

  private hasRunWithout(group: NaiveGroup, out: readonly EntryId[]): boolean {
    return this.runsOf(group).some((run) => {
      const standing = this.standings.get(run);
      if (standing?.kind !== "GOOD") return standing?.kind === "EITHER";
      const ahead = this.ahead(group);
      // What it holds besides must be likely to land as well.
      return sameSet(standing.without, out) && standing.before.every((id) => ahead.includes(id) || this.isLikely(id));
    });
  }

  /** Two that the run would contain conflict in text. */
  private conflicts(group: NaiveGroup, out: readonly EntryId[]): boolean {
    const contained = [...this.ahead(group), ...group.members].filter((id) => !out.includes(id));
    return contained.some((id) => contained.includes(this.state.entries.get(id)?.conflictsWith ?? ("" as EntryId)));
  }

  /** Groups that have no test although a slot is free and nothing says that it is not worth it. */
  unstarted(): readonly NaiveGroup[] {
    if (!this.hasTip()) return [];
    return this.groups.filter((group) => {
      const out = this.likelyOut(group);
      if (this.freeSlots(group.bisected) < 1 || !this.mayStart(group)) return false;
      if (this.hasRunWithout(group, out) || this.conflicts(group, out)) return false;
      return group.bisected || !(this.waitsForBatch(group) || this.mergesDirectly(group) || this.isUnlikely(group));
    });
  }

  private waitsForBatch(group: NaiveGroup): boolean {
    const { batch, batchingMinSize, batchingMaxWaitTimeMinutes } = this.state.config.settings;
    if (!batch || batchingMaxWaitTimeMinutes === 0 || group.members.length >= batchingMinSize) return false;
    if (this.state.closed.since !== null) return false;
    const members = this.entriesOf(group);
    // What is left of a batch that was tested waits for nobody.
    if (members.some((entry) => entry.group !== null && entry.firstTestAt !== null)) return false;
    const closed = (entry: Entry): number => this.state.closed.totalMs - entry.closedMsBefore;
    const until = members.map((entry) => (entry.admittedAt ?? 0) + batchingMaxWaitTimeMinutes * 60_000 + closed(entry));
    return members.every((entry) => entry.state === "PENDING" && !this.isAlone(entry)) && Math.min(...until) > this.now;
  }

  private isAlone(entry: Entry): boolean {
    return entry.noBatch || entry.lane?.isolated === true || isUrgent(entry);
  }

  private mergesDirectly(group: NaiveGroup): boolean {
    const [entry] = this.entriesOf(group);
    return this.state.config.settings.directMergeMode === "ALWAYS" && entry?.pr?.own?.tip === this.state.tip?.sha;
  }

  /**
   * Below the floor for as busy as the slots are. One of those ahead that has failed may always make it so, and one
   * that conflicts with another: it lands if that other does not, whose one failure may be by assumptions of its own.
   */
  private isUnlikely(group: NaiveGroup): boolean {
    const { failed, merged } = this.state.totals;
    const fault = (failed + 1) / (failed + merged + 12);
    const ahead = this.ahead(group).flatMap((id) => this.state.entries.get(id) ?? []);
    if (ahead.some((entry) => !this.isLikely(entry.id) || entry.conflictsWith !== null)) return true;
    const chance = ahead.reduce((product, { id, state }) => {
      if (this.isLanding(id) || this.cleared.has(id)) return product;
      return product * (state === "TESTS_PASSED" ? 0.99 : 1 - fault);
    }, 1);
    const { concurrency } = this.state.config.settings;
    const busy = (concurrency - this.freeSlots(false)) / Math.max(1, concurrency);
    return chance < (busy <= 0.5 ? 0.03 : busy <= 0.8 ? 0.08 : busy <= 0.95 ? 0.15 : 0.3);
  }

  /** Groups that are proven, have nobody ahead, and are not sent. */
  unlanded(): readonly NaiveGroup[] {
    const { landing, tip, tipDoubted } = this.state;
    if (landing !== null || tip === null || tipDoubted) return [];
    return this.groups.filter((group) => {
      if (naiveAhead(this.state, this.groups, group).length > 0) return false;
      return this.runsOf(group).some((run) => {
        const standing = this.standings.get(run);
        if (run.phase !== "PASSED" || standing?.kind !== "GOOD") return false;
        if (standing.before.length + standing.without.length > 0) return false;
        return this.entriesOf(group).every(
          (entry) => !isStopped(this.state, this.now, entry) && entry.comparing === null,
        );
      });
    });
  }

  /** Failures that count by all rules, and were not judged. A target that is being read keeps clearing runs waiting. */
  unjudged(): readonly Run[] {
    if (!this.hasTip() || this.state.holds.some((hold) => hold.kind === "TIP_FAILED")) return [];
    return [...this.standings].flatMap(([run, standing]) => {
      if (run.phase !== "FAILED" || run.kind === "TIP" || standing.kind !== "GOOD") return [];
      if (standing.before.length + standing.without.length > 0 || this.waitsForMore(run)) return [];
      const group = this.groups.find((one) => one.members.join() === run.group.join());
      const isFailing = run.group.every((id) => this.state.entries.get(id)?.state === "PENDING_FAILURE");
      return isFailing && group !== undefined && !this.maybeCleared(group) ? [run] : [];
    });
  }

  private waitsForMore(run: Run): boolean {
    const { retriesBeforeFailure } = this.state.config.settings;
    return run.group.length === 1 && run.failure?.kind !== "NO_REQUIRED_STATUSES" && run.repeats < retriesBeforeFailure;
  }

  /** A run in progress, of one of the next overlapping groups, contains it. */
  private maybeCleared(group: NaiveGroup): boolean {
    const { canOptimisticallyMerge, pendingFailureDepth } = this.state.config.settings;
    if (!canOptimisticallyMerge) return false;
    const behind = this.groups.filter((other) => naiveAhead(this.state, this.groups, other).includes(group));
    return behind.slice(0, pendingFailureDepth).some((other) =>
      this.runsOf(other).some((run) => {
        const standing = this.standings.get(run);
        if (!RUNNING.includes(run.phase) || standing === undefined || standing.kind === "VOID") return false;
        return group.members.every((id) => run.predecessors.includes(id));
      }),
    );
  }
}

export const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));
