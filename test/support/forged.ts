/**
 * Queues that nobody drove there: entries and runs put together by hand, for rules that follow from a few facts. Lanes
 * are given as numbers: `lane: laneOf(3, [1])` shares a target with the entry whose number is 1.
 */
import { type EntryId, entryId, type RunId, runId } from "../../shared/kernel/ids.ts";
import { newEntry } from "../../shared/queue/engine/new-entry.ts";
import type { Entry, Lane, LandedStep, QueueState, Run } from "../../shared/queue/engine/types.ts";
import { aState, aSubmission, aTip, sha, START } from "./queue.ts";

export const ids = (...numbers: readonly number[]): readonly EntryId[] =>
  numbers.map((number) => entryId(`e${number}`));
export const runIds = (...numbers: readonly number[]): readonly RunId[] =>
  numbers.map((number) => runId(`q-${number}`));

export const laneOf = (number: number, overlaps: readonly number[] = [], since = 0): Lane => ({
  number,
  overlaps,
  since,
  isolated: false,
});

/** Admitted, and submitted a second after the one with the number before it. */
export const anEntry = (number: number, change: Partial<Entry> = {}): Entry => ({
  ...newEntry(aSubmission(number, (START + number * 1000) as Entry["submittedAt"]), 0),
  state: "PENDING",
  ...change,
});

/** One in a queue of lanes, which shares a target with these earlier ones. */
export const inLane = (number: number, overlaps: readonly number[] = [], change: Partial<Entry> = {}): Entry =>
  anEntry(number, {
    targets: { kind: "SET", digest: `${number}`, count: 1 },
    lane: laneOf(number, overlaps),
    ...change,
  });

/** The test of one entry, or of the tip where it tests none, that has passed on the target as it is in `aQueueOf`. */
export const aRun = (number: number, group: readonly EntryId[], change: Partial<Run> = {}): Run => ({
  id: runId(`q-${number}`),
  kind: group.length === 0 ? "TIP" : "MAIN",
  group,
  predecessors: [],
  assumedOut: [],
  base: sha("T0"),
  landingsBefore: 0,
  phase: "PASSED",
  branch: `mainline/${number}`,
  commit: sha(`commit-q-${number}`),
  tree: null,
  required: ["unit"],
  requiredSource: "CONFIG_FILE",
  startedAt: START,
  testingSince: START,
  deadline: null,
  lateRead: "NONE",
  statuses: [],
  complete: true,
  repeats: 0,
  failure: null,
  endedAt: START,
  ...change,
});

/** A landing that moved the target from `T<number>` to the next. */
export const aStep = (number: number, entries: readonly EntryId[], change: Partial<LandedStep> = {}): LandedStep => ({
  number,
  from: sha(`T${number}`),
  to: sha(`T${number + 1}`),
  entries,
  voids: [],
  doubts: [],
  stale: [],
  ...change,
});

type Parts = { readonly entries?: readonly Entry[]; readonly runs?: readonly Run[]; readonly tip?: string };

export const aQueueOf = (
  { entries = [], runs = [], tip = "T0" }: Parts,
  change: Partial<Omit<QueueState, keyof Parts>> = {},
): QueueState => ({
  ...aState(),
  tip: aTip(tip),
  entries: new Map(entries.map((entry) => [entry.id, entry])),
  runs: new Map(runs.map((run) => [run.id, run])),
  ...change,
});
