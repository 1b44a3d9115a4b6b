/**
 * Mainline itself, in memory: every decision is made by the engine's own `step`. The code host answers at once and
 * truthfully; only runs take time. Impacted targets are stood for by which changes overlap.
 */
import { type EntryId, entryId, queueId, type RunId } from "../../../../shared/kernel/ids.ts";
import { type EpochMs, later } from "../../../../shared/kernel/time.ts";
import { newQueue } from "../../../../shared/queue/engine/new-queue.ts";
import { step } from "../../../../shared/queue/engine/step.ts";
import type {
  Decision,
  Effect,
  Entry,
  QueueConfig,
  QueueEvent,
  QueueState,
} from "../../../../shared/queue/engine/types.ts";
import { type QueueSettingsPatch, resolveSettings } from "../../../../shared/schemas/queue-settings.ts";
import { aPullRequest, aSubmission, aTip, START, status } from "../../../support/queue.ts";
import { isDecided, type Ledger, newLedger, noteEjected, noteLanded, PLAYED_MS_MIN } from "../ledger.ts";
import { newTrunk, outcomeOf, type Trunk } from "../trunk.ts";
import type { World } from "../world.ts";
import { type Job, runnersOf, type Runners } from "./runners.ts";

const CHECK = "unit";

/** What a run was built from: so many landings, and these changes on top; it is the test of `tested`. */
type Built = Pick<Job, "rank" | "tested"> & { readonly base: number; readonly onTop: readonly number[] };

type Drive = {
  readonly world: World;
  readonly trunk: Trunk;
  readonly ledger: Ledger;
  readonly runners: Runners;
  /** Which targets of the queue each change has: the number it was compared under. */
  readonly numbers: Map<number, number>;
  /** How much had landed at each tip. */
  readonly landedAt: Map<string, number>;
  readonly built: Map<RunId, Built>;
  readonly inbox: QueueEvent[];
  readonly watch: Watch;
  /** How many that were live each of the last arrivals overlapped. */
  readonly waitedFor: number[];
  state: QueueState;
  now: EpochMs;
  wakeAt: EpochMs | undefined;
};

/** Pull requests are numbered from 1. */
const changeOf = (prNumber: number): number => prNumber - 1;
/** The engine counts from 1970, the world from its start. */
const sinceStart = (at: EpochMs): number => at - START;
const tipAfter = (landed: number) => aTip(`tip-${landed}`, [CHECK]);

/** Is told each decision of the engine, when it is made. */
export type Watch = (decision: Decision, nowMs: number) => void;

export function drive(world: World, settings: QueueSettingsPatch, watch: Watch = () => {}): Ledger {
  const concurrency = Math.min(1000, world.workers);
  const config: QueueConfig = {
    settings: resolveSettings({ mode: "PARALLEL", concurrency, ...settings }),
    operator: { state: "RUNNING", reason: null, since: START, allowUrgent: false },
    holdsClearedAt: null,
    windows: [],
  };
  const ledger = newLedger(world.count);
  const drive: Drive = {
    world,
    trunk: newTrunk(world),
    ledger,
    runners: runnersOf(world.workers, ledger),
    numbers: new Map(),
    landedAt: new Map([["tip-0", 0]]),
    built: new Map(),
    inbox: [],
    watch,
    waitedFor: [],
    state: newQueue(queueId("bench"), "main", config),
    now: START,
    wakeAt: undefined,
  };
  for (let arriving = 0; ; ) {
    const arrivesAt = world.arrivesAt[arriving] ?? Infinity;
    const endsAt = drive.runners.nextEnd() ?? Infinity;
    const wakesAt = drive.wakeAt === undefined ? Infinity : sinceStart(drive.wakeAt);
    const nowMs = Math.min(arrivesAt, endsAt, wakesAt);
    if (nowMs === Infinity) return finished(drive);
    drive.now = later(START, nowMs);
    if (endsAt === nowMs) endRun(drive);
    else if (wakesAt === nowMs) drive.inbox.push({ type: "wake" });
    else {
      arriving += 1;
      const targets = { kind: "SET", digest: `targets-${arriving}`, count: 1 } as const;
      drive.inbox.push({ type: "submitted", entry: aSubmission(arriving, drive.now, { targets }) });
    }
    goOn(drive);
    if (isHopeless(drive)) return gaveUp(drive);
  }
}

/** Over so many arrivals each waits for so many others: the queue only grows, and to play it to its end takes hours. */
const ARRIVALS_LOOKED_AT = 100;
const WAITED_FOR_MAX = 15;

function isHopeless({ waitedFor, now }: Drive): boolean {
  const sum = waitedFor.reduce((total, one) => total + one, 0);
  return sinceStart(now) >= PLAYED_MS_MIN && sum > WAITED_FOR_MAX * ARRIVALS_LOOKED_AT;
}

function gaveUp({ ledger, now }: Drive): Ledger {
  ledger.gaveUpAt = sinceStart(now);
  return ledger;
}

/**
 * Feeds the engine until it has nothing more to say: first all that is known, then what follows from it is done, by its
 * key, as the service's outbox does it.
 */
function goOn(drive: Drive): void {
  while (drive.inbox.length > 0) {
    const effects: Effect[] = [];
    for (let event = drive.inbox.shift(); event !== undefined; event = drive.inbox.shift()) {
      const decision = step(drive.state, event, drive.now);
      drive.watch(decision, sinceStart(drive.now));
      drive.state = decision.state;
      drive.wakeAt = decision.wakeAt;
      effects.push(...decision.effects);
      for (const entry of decision.endedEntries) noteEnd(drive, entry);
      if (decision.more && drive.inbox.length === 0) drive.inbox.push({ type: "wake" });
    }
    effects.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
    for (const effect of effects) perform(drive, effect);
  }
}

function noteEnd({ ledger, trunk, now }: Drive, { state, prNumber, conclusion }: Entry): void {
  const change = changeOf(prNumber);
  if (state === "FAILED") noteEjected(ledger, trunk, change, sinceStart(now));
  else if (state !== "MERGED" || ledger.landed[change] !== 1)
    throw new Error(`#${prNumber} ended as ${state}: ${conclusion?.message ?? "no conclusion"}`);
}

function finished({ ledger, state, world }: Drive): Ledger {
  const open = world.takes.findIndex((_, change) => !isDecided(ledger, change));
  if (open < 0) return ledger;
  const entry = [...state.entries.values()].find((one) => one.prNumber === open + 1);
  const count = state.entries.size;
  throw new Error(`the queue stands still with ${count} entries; #${open + 1} is ${entry?.state ?? "gone"}`);
}

function builtOf(drive: Drive, effect: Extract<Effect, { type: "build-run" }>): Built {
  const run = drive.state.runs.get(effect.run);
  const base = drive.landedAt.get(effect.base);
  if (run === undefined || base === undefined) throw new Error(`${effect.run} is built on nothing that is known`);
  const onTop = effect.changes.map(({ prNumber }) => changeOf(prNumber));
  return { rank: run.kind === "BISECTION" ? "BISECTION" : "MAIN", tested: changesOf(drive, run.group), base, onTop };
}

/** Gives it to the workers; the repeat takes its share of the run. */
function begin({ world, trunk, runners, built, now }: Drive, run: RunId, repeat: number): void {
  const made = built.get(run);
  if (made === undefined) return;
  const { tested, base, onTop } = made;
  const wholeMs = tested.reduce((longest, change) => Math.max(longest, world.takes[change] ?? 0), 0);
  const takesMs = repeat === 0 ? wholeMs : Math.max(1, Math.round(wholeMs * world.load.repeatShare));
  const passes = (): boolean => outcomeOf(trunk, base, onTop);
  runners.begin({ run, repeat, rank: repeat > 0 ? "REPEAT" : made.rank, tested, takesMs, passes }, sinceStart(now));
}

function endRun(drive: Drive): void {
  const ended = drive.runners.end(sinceStart(drive.now));
  if (ended === undefined) return;
  const { run, repeat } = ended.job;
  const statuses = [status(CHECK, ended.passed ? "SUCCESS" : "FAILURE")];
  drive.inbox.push({ type: "statuses", run, repeats: repeat, statuses, complete: true, readAt: null });
}

const changesOf = ({ state }: Drive, entries: readonly EntryId[]): readonly number[] =>
  entries.flatMap((id) => {
    const entry = state.entries.get(id);
    return entry === undefined ? [] : [changeOf(entry.prNumber)];
  });

function perform(drive: Drive, effect: Effect): void {
  const { inbox, world, trunk, runners, now, state } = drive;
  switch (effect.type) {
    case "build-run":
      // Begun and closed in the same step: nobody gets to build it.
      if (!state.runs.has(effect.run)) return;
      inbox.push({ type: "run-built", run: effect.run, commit: aTip(effect.run).sha, tree: aTip(effect.run).tree });
      drive.built.set(effect.run, builtOf(drive, effect));
      return begin(drive, effect.run, 0);
    case "repeat-checks":
      return begin(drive, effect.run, effect.repeat);
    case "close-run":
      drive.built.delete(effect.run);
      return runners.stop(effect.run, sinceStart(now));
    case "compare-targets": {
      const change = changeOf(effect.prNumber);
      drive.numbers.set(change, effect.number);
      const isLive = (other: number): boolean => state.entries.has(entryId(`e${other + 1}`));
      const live = [...(world.earlier[change] ?? [])].filter(isLive);
      drive.waitedFor.push(live.length);
      if (drive.waitedFor.length > ARRIVALS_LOOKED_AT) drive.waitedFor.shift();
      const overlaps = live.flatMap((other) => drive.numbers.get(other) ?? []).sort((a, b) => a - b);
      inbox.push({ type: "targets-compared", entry: effect.entry, number: effect.number, overlaps, isolated: false });
      return;
    }
    case "land": {
      for (const { prNumber } of effect.changes) noteLanded(drive.ledger, trunk, changeOf(prNumber), sinceStart(now));
      const tip = tipAfter(trunk.landed);
      drive.landedAt.set(tip.sha, trunk.landed);
      const entries = effect.changes.map((change) => change.entry);
      inbox.push({ type: "landed", landing: effect.landing, tip, trees: "EQUAL", entries, onMovedTip: false });
      return;
    }
    case "read-tip":
      inbox.push({ type: "tip", read: effect.read, tip: tipAfter(trunk.landed), reached: [] });
      return;
    case "read-pull-request": {
      const { prNumber } = effect;
      inbox.push({ type: "pull-request", prNumber, facts: aPullRequest(prNumber), readAt: now });
      return;
    }
    case "read-statuses": {
      const repeats = state.runs.get(effect.run)?.repeats ?? 0;
      inbox.push({ type: "statuses", run: effect.run, repeats, statuses: [], complete: false, readAt: now });
      return;
    }
    case "compute-targets":
      throw new Error("the targets of every change were given");
    case "ask-forgiveness":
      throw new Error("nothing is quarantined");
  }
}
