import { afterEach, expect, test } from "vitest";
import { aQueue } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

test("every run that was started is counted once when it leaves the queue, however often it was repeated", () => {
  const queue = aQueue({ concurrency: 3 }).opens().submits(1, 2, 3);
  queue.builds(1).builds(2).builds(3).passes(1).lands().fails(2).fails(2);
  queue.builds(3).passes(3).lands();
  const { runsStarted, runsPassed, runsFailed, runsCancelled } = queue.state.totals;
  expect(queue.state.runs.size).toBe(0);
  expect(runsPassed + runsFailed + runsCancelled).toBe(runsStarted);
  expect({ runsPassed, runsFailed }).toEqual({ runsPassed: 2, runsFailed: 1 });
});
