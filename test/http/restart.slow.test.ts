import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { aServiceProcess, type ServiceProcess } from "../support/service.ts";

let service: ServiceProcess;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aServiceProcess(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

/** Processes in whose environment this stands. */
const carrying = (entry: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(entry);
    } catch {
      return false;
    }
  });

describe("SIGTERM in the middle of a queue, and a start on the same data", () => {
  it("keeps everything: settings, who is in it and in which order, runs, timelines; and goes on to the end", async () => {
    const { repo, queue } = await service.queue({
      checks: { unit: gate.command },
      settings: { concurrency: 2, mergeMethod: "merge_commit", requiredStatuses: ["unit"] },
    });
    const before = repo.sha("main");
    for (const number of [1, 2, 3, 4])
      repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" }, message: `Change ${number}` });
    for (const number of [1, 2, 3, 4]) await queue.submit(number, number === 4 ? { priority: "low" } : {});
    await eventually(gate.waiting, (all) => all.includes("1") && all.includes("1,2"));
    await queue.cancel(3);
    // Taken in by the loop, which gives it the time that stays.
    await eventually(
      () => queue.list({ state: "CANCELLED" }),
      (page) => page.pullRequests.length === 1,
    );
    const [was, cancelled, timeline] = await Promise.all([queue.view(), queue.get(3), queue.timeline(1)]);
    const { testRunId = "" } = await queue.runs({ pr: { number: 1 } });

    await service.again();

    const is = await queue.view();
    expect({ ...is, enqueuedPullRequests: [] }).toEqual({ ...was, enqueuedPullRequests: [] });
    const shown = ({ enqueuedPullRequests }: typeof is) =>
      enqueuedPullRequests.map(({ id, prNumber }) => [id, prNumber]);
    expect(shown(is)).toEqual(shown(was));
    expect(await queue.get(3)).toEqual(cancelled);
    expect((await queue.timeline(1)).slice(-timeline.length)).toEqual(timeline);
    // The run goes on under its own name: its check is started again, and what the old process left is gone.
    await eventually(gate.waiting, (all) => all.includes("1") && all.includes("1,2"));
    expect((await queue.runs({ pr: { number: 1 } })).testRunId).toBe(testRunId);
    expect(gate.waiting().filter((content) => content === "1")).toHaveLength(1);

    for (const content of ["1", "1,2", "1,2,4", "2,4", "4"]) gate.pass(content);
    for (const number of [1, 2, 4]) expect((await queue.ends(number)).state).toBe("MERGED");
    expect(repo.subjects(`${before}..main`)).toEqual([
      "Merge #4: Change 4",
      "Merge #2: Change 2",
      "Merge #1: Change 1",
    ]);
  });

  it("leaves no check behind while nothing runs", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: `trap '' TERM; ${gate.command}` } });
    repo.pullRequest(11, { files: { "a.txt": "1\n" } });
    await queue.submit(11);
    await eventually(gate.waiting, (all) => all.includes("11"));
    const { testRunId = "nothing" } = await queue.runs({ pr: { number: 11 } });
    expect(carrying(`MAINLINE_RUN=${testRunId}`).length).toBeGreaterThan(0);
    await service.server().signal("SIGTERM");
    expect(carrying(`MAINLINE_RUN=${testRunId}`)).toEqual([]);
    await service.again();
    gate.pass("11");
    expect((await queue.ends(11)).state).toBe("MERGED");
  });

  it("what happened at the host meanwhile is seen: a closed PR leaves, a moved target is tested on, a push cancels", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [21, 22, 23]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    for (const number of [21, 22, 23]) await queue.submit(number);
    await eventually(gate.waiting, (all) => all.includes("21") && all.includes("21,22"));
    await queue.reaches(23, "TESTING");
    await service.server().signal("SIGTERM");
    await service.pr(repo, "close", "21");
    repo.pullRequest(22, { files: { "22.txt": "2\n" } });
    const pushed = repo.commit("main", { files: { "by-hand.txt": "1\n" }, message: "By hand" });
    await service.again();
    expect(await queue.ends(21)).toMatchObject({ conclusion: { reason: "PULL_REQUEST_CLOSED" } });
    expect(await queue.ends(22)).toMatchObject({ conclusion: { reason: "PULL_REQUEST_PUSHED" } });
    gate.pass("23");
    const ended = await queue.ends(23);
    expect(ended.state).toBe("MERGED");
    expect((await queue.runs({ testRunId: ended.verifiedByTestRun })).baseSha).toBe(pushed);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
