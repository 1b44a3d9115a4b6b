/** How one decision of the engine grows with how much pull requests overlap, in a queue that makes lanes. */
import { commitSha } from "../../shared/kernel/ids.ts";
import { epochMs } from "../../shared/kernel/time.ts";
import { newEntry } from "../../shared/queue/engine/new-entry.ts";
import { step } from "../../shared/queue/engine/step.ts";
import type { Entry, QueueEvent, QueueState } from "../../shared/queue/engine/types.ts";
import { seeded } from "../crash/random.ts";
import { aState, aSubmission, aTip, START } from "../support/queue.ts";
import { ms, type Row, stated, times } from "./report.ts";

const ENTRIES = 1_000;
/** Of a thousand pull requests each overlaps none, five, fifty, half of the others, or all of them. */
const OVERLAPS = [0, 0.005, 0.05, 0.5, 1] as const;
const SAMPLES = 15;

function admitted(number: number, overlap: number, chance: () => number): Entry {
  const at = epochMs(START - 3_600_000 + number);
  const overlaps = Array.from({ length: number - 1 }, (_, other) => other + 1).filter(() => chance() < overlap);
  const targets = { kind: "SET", digest: `digest-${number}`, count: 1_000 } as const;
  const entry = newEntry(aSubmission(number, at, { targets }), 0);
  const lane = { number, overlaps, since: 0, isolated: false };
  return { ...entry, lane, state: "PENDING", stateChangedAt: at, admittedAt: at, moves: 2 };
}

/** As many runs as are worth starting, all in progress. */
function queueOf(overlap: number): QueueState {
  const random = seeded(1);
  const entries = Array.from({ length: ENTRIES }, (_, at) => admitted(at + 1, overlap, () => random.next()));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  let state: QueueState = {
    ...aState({ mode: "PARALLEL", concurrency: 100 }),
    tip: aTip("T0"),
    entries: byId,
    nextTargets: ENTRIES + 1,
  };
  for (let more = true; more; ) ({ state, more } = step(state, { type: "wake" }, START));
  for (const { id } of state.runs.values())
    ({ state } = step(
      state,
      { type: "run-built", run: id, commit: commitSha(`commit-${id}`), tree: aTip("T0").tree },
      START,
    ));
  return state;
}

function best(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const begun = performance.now();
    work();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}

export async function planning(): Promise<readonly Row[]> {
  const states = OVERLAPS.map(queueOf);
  const took = states.map((state) => {
    const [run] = state.runs.values();
    if (run === undefined) throw new Error("nothing is being tested");
    const statuses = [{ context: "unit", state: "FAILURE", url: null, description: null }] as const;
    const event: QueueEvent = { type: "statuses", run: run.id, repeats: 0, statuses, complete: true, readAt: null };
    return best(() => void step(state, event, START));
  });
  const [alone = Number.NaN] = took;
  const runs = states.map((state) => state.runs.size).join(", ");
  const said = `${took.map(ms).join(", ")}; ${times(Math.max(...took) / alone)} the cost without overlaps; runs ${runs}`;
  const what = "a check that fails among 1,000 in lanes, overlaps 0, .005, .05, .5, 1";
  const numbers = Object.fromEntries(OVERLAPS.map((overlap, at) => [`ms${overlap}`, took[at] ?? Number.NaN]));
  return [stated("plan", what, said, numbers)];
}
