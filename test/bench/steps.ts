/** How one decision of the engine grows with the queue. */
import { commitSha, entryId } from "../../shared/kernel/ids.ts";
import { epochMs } from "../../shared/kernel/time.ts";
import { newEntry } from "../../shared/queue/engine/new-entry.ts";
import { step } from "../../shared/queue/engine/step.ts";
import type { Entry, QueueEvent, QueueState } from "../../shared/queue/engine/types.ts";
import { aPullRequest, aState, aSubmission, aTip, START } from "../support/queue.ts";
import { ms, promised, type Row, times } from "./report.ts";

const SIZES = [10, 100, 1_000, 10_000] as const;
const SAMPLES = 25;
/** Noise only ever adds: before a goal is called missed, more samples are taken. */
const ROUNDS_MAX = 5;
const SAMPLE_MS_MIN = 4;

/** As many admitted entries as that, the first five of them being tested. */
function queueOf(size: number): QueueState {
  const entries = Array.from({ length: size }, (_, at) => admitted(at + 1));
  const tip = aTip("T0");
  let state: QueueState = { ...aState(), tip, entries: new Map(entries.map((entry) => [entry.id, entry])) };
  const goesOn = (event: QueueEvent): void => {
    state = step(state, event, START).state;
  };
  goesOn({ type: "wake" });
  for (const run of state.runs.keys())
    goesOn({ type: "run-built", run, commit: commitSha(`commit-${run}`), tree: tip.tree });
  return state;
}

function admitted(number: number): Entry {
  const at = epochMs(START - 3_600_000 + number);
  const pr = aPullRequest(number, { headSha: commitSha(`head${number}`) });
  const entry = newEntry(aSubmission(number, at, { pr }), 0);
  return { ...entry, state: "PENDING", stateChangedAt: at, admittedAt: at, moves: 2 };
}

type Facts = Readonly<Record<string, (state: QueueState) => QueueEvent>>;

/** What comes most: a submission, a status, and a look with nothing to find. */
const FACTS: Facts = {
  "a submission": () => ({
    type: "submitted",
    entry: aSubmission(999_999, START, { id: entryId("new") }),
  }),
  "a check that passes": (state) => {
    const run = [...state.runs.values()][0];
    if (run === undefined) throw new Error("nothing is being tested");
    const statuses = [{ context: "unit", state: "SUCCESS", url: null, description: null }] as const;
    return { type: "statuses", run: run.id, repeats: 0, statuses, complete: true, readAt: null };
  },
  "a look": () => ({ type: "wake" }),
};

type Work = () => void;

const taking = (work: Work, count: number): number => {
  const begun = performance.now();
  for (let turn = 0; turn < count; turn += 1) work();
  return (performance.now() - begun) / count;
};

/**
 * Of each work, the best of several samples, which take turns: what the machine does beside it only ever adds. A sample
 * holds as many turns as it takes to be measured well.
 */
function bestOf(works: readonly Work[], isEnough: (best: readonly number[]) => boolean): readonly number[] {
  const counts = works.map((work) => {
    for (let warm = 0; warm < 5; warm += 1) taking(work, 3);
    return Math.max(1, Math.ceil(SAMPLE_MS_MIN / taking(work, 5)));
  });
  const best = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS_MAX && !isEnough(best); round += 1)
    for (let sample = 0; sample < SAMPLES; sample += 1)
      for (const [at, work] of works.entries())
        best[at] = Math.min(best[at] ?? Number.NaN, taking(work, counts[at] ?? 1));
  return best;
}

/**
 * Judged over the two upper decades together: below a hundred the fixed part of a step hides its growth, and where the
 * queue outgrows the processor's caches one decade alone shows those instead.
 */
const FROM = 100;
const TO = 10_000;

export async function steps(): Promise<readonly Row[]> {
  const states = SIZES.map(queueOf);
  const bound = growthOfNLogN(FROM, TO);
  return Object.entries(FACTS).map(([name, eventFor]) => {
    const works = states.map((state) => {
      const event = eventFor(state);
      return () => void step(state, event, START);
    });
    const tookBy = (best: readonly number[]) =>
      new Map<number, number>(SIZES.map((size, at) => [size, best[at] ?? Number.NaN]));
    const took = tookBy(bestOf(works, (best) => growthIn(tookBy(best), FROM, TO) <= bound));
    const total = growthIn(took, FROM, TO);
    const factors = SIZES.slice(1).map((size) => growthIn(took, size / 10, size));
    const said = `${factors.map(times).join(", ")} per decade (${[...took.values()].map(ms).join(", ")})`;
    const verdict = { goal: `100 to 10,000: at most ${times(bound)} (n log n)`, holds: total <= bound };
    const numbers = Object.fromEntries([...took].map(([size, each]) => [`ms${size}`, each]));
    const row = `step() with 10, 100, 1,000, 10,000 live: ${name}`;
    return promised("step", row, `${said}; ${times(total)}`, verdict, { ...numbers, growth: total });
  });
}

const growthIn = (took: ReadonlyMap<number, number>, from: number, to: number): number =>
  (took.get(to) ?? Number.NaN) / (took.get(from) ?? Number.NaN);

const growthOfNLogN = (from: number, to: number): number => (to * Math.log(to)) / (from * Math.log(from));
