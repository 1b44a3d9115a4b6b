import { describe, expect, test } from "vitest";
import { commitSha, entryId, runId } from "../../../shared/kernel/ids.ts";
import { testingDetails } from "../../../shared/queue/app/test-runs.ts";
import type { Entry, Run } from "../../../shared/queue/engine/types.ts";
import { NOW } from "../table/fixture.ts";
import { aLoadedQueue, anApp, anEntry, KEY } from "./fixture.ts";

const aRun = (number: number, change: Partial<Run> = {}): Run => ({
  id: runId(`q1-${number}`),
  kind: "MAIN",
  group: [entryId(`e${number}`)],
  predecessors: [],
  assumedOut: [],
  base: commitSha("b"),
  landingsBefore: 0,
  phase: "TESTING",
  branch: `mainline/pr-${number}/q1-${number}`,
  commit: null,
  tree: null,
  required: ["unit"],
  requiredSource: "CONFIG_FILE",
  startedAt: NOW,
  testingSince: NOW,
  deadline: null,
  lateRead: "NONE",
  statuses: [],
  complete: false,
  repeats: 0,
  failure: null,
  endedAt: null,
  ...change,
});

const withTargets = (number: number, count: number): Entry =>
  anEntry(number, { targets: { kind: "SET", digest: `d${number}`, count } });

/** Every PR has targets of its own, and the first of them in common with all; of a set at most 1,000 are shown. */
function details(entries: readonly Entry[], runs: readonly Run[]) {
  const reads: number[] = [];
  const queue = aLoadedQueue(entries, { runs });
  const app = anApp({
    queues: { view: async () => queue },
    targets: {
      find: async (_org, _repo, prNumber) => {
        reads.push(prNumber);
        const targets = queue.state.entries.get(entryId(`e${prNumber}`))?.targets ?? { kind: "ALL" };
        const count = targets.kind === "SET" ? targets.count : 0;
        const shown = Array.from({ length: Math.min(1_000, count) }, (_, at) =>
          at === 0 ? "all" : `${prNumber}-${at}`,
        );
        return { targets, source: "UPLOAD", shown };
      },
    },
  });
  const of = async (number: number) => {
    const found = await testingDetails(app, KEY, { testRunId: `q1-${number}` });
    if (!found.ok) throw new Error("not found");
    return found.value.runs[0];
  };
  return { of, reads };
}

describe("the targets of a test run", () => {
  const three = [withTargets(1, 3), withTargets(2, 2), withTargets(3, 4)];
  const onTop = aRun(3, { predecessors: [entryId("e1"), entryId("e2")] });

  test("are those of its own PR, and with those of all ahead of it", async () => {
    const run = await details(three, [aRun(1), aRun(2), onTop]).of(3);
    expect(run?.impactedTargetsForTested).toEqual({ shown: ["all", "3-1", "3-2", "3-3"], total: 4 });
    expect(run?.impactedTargets.total).toBe(7);
    expect(new Set(run?.impactedTargets.shown)).toEqual(new Set(["all", "1-1", "1-2", "2-1", "3-1", "3-2", "3-3"]));
  });

  test("are ALL as soon as one of them is", async () => {
    const all = [anEntry(1, { targets: { kind: "ALL" } }), ...three.slice(1)];
    const run = await details(all, [onTop]).of(3);
    expect(run).toMatchObject({
      impactedTargets: { shown: "ALL", total: null },
      impactedTargetsForTested: { total: 4 },
    });
  });

  test("are read no further than they are shown: the rest is counted", async () => {
    const many = Array.from({ length: 300 }, (_, at) => withTargets(at + 1, 2_000));
    const predecessors = many.slice(0, -1).map((entry) => entry.id);
    const { of, reads } = details(many, [aRun(300, { predecessors })]);
    const run = await of(300);
    expect(run?.impactedTargets.shown.length).toBeGreaterThanOrEqual(1_000);
    expect(run?.impactedTargets.total).toBeGreaterThan(300 * 1_990);
    expect(reads.length).toBeLessThanOrEqual(30);
  });

  test("name those that are tested on top of it, each once, in order", async () => {
    const runs = [aRun(1), aRun(2, { predecessors: [entryId("e1")] }), onTop, { ...onTop, id: runId("q1-again") }];
    expect((await details(three, runs).of(1))?.dependents).toEqual([2, 3]);
  });
});
