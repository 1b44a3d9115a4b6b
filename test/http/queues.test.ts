import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

const DEFAULTS = {
  state: "RUNNING",
  mode: "SINGLE",
  concurrency: 5,
  bisectionConcurrency: 5,
  batch: false,
  batchingMinSize: 4,
  batchingMaxWaitTimeMinutes: 5,
  testingTimeoutMinutes: 300,
  notReadyTimeoutHours: 168,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  optimizationMode: "OFF",
  retriesBeforeFailure: 1,
  forgiveQuarantined: false,
  trustForkTargets: false,
  directMergeMode: "OFF",
  mergeMethod: "SQUASH",
  requiredStatuses: null,
  createPrsForTestingBranches: true,
  commentsEnabled: true,
  commandsEnabled: true,
  statusCheckEnabled: true,
  enqueueingLabel: "merge-queue",
  labelCommandsEnabled: false,
  stateLabelsEnabled: false,
  extensionEnabled: false,
  allowedBotSubmitters: [],
  batchingRules: [],
} as const;

/** Another value for every setting, as a client sends it and as it is shown. */
const OTHERS = {
  concurrency: 1000,
  bisectionConcurrency: 7,
  batch: true,
  batchingMinSize: 100,
  batchingMaxWaitTimeMinutes: 0,
  testingTimeoutMinutes: 10_080,
  notReadyTimeoutHours: 0,
  pendingFailureDepth: 20,
  canOptimisticallyMerge: true,
  retriesBeforeFailure: 0,
  forgiveQuarantined: true,
  trustForkTargets: true,
  requiredStatuses: ["unit", "it's #1 / ü"],
  createPrsForTestingBranches: false,
  commentsEnabled: false,
  commandsEnabled: false,
  statusCheckEnabled: false,
  enqueueingLabel: "go",
  labelCommandsEnabled: true,
  stateLabelsEnabled: true,
  extensionEnabled: true,
  allowedBotSubmitters: ["renovate[bot]"],
} as const;
const OTHER_ENUMS = [
  ["mode", "parallel", "PARALLEL"],
  ["optimizationMode", "bisection_skip_redundant_tests", "BISECTION_SKIP_REDUNDANT_TESTS"],
  ["directMergeMode", "always", "ALWAYS"],
  ["mergeMethod", "merge_commit", "MERGE_COMMIT"],
  ["mergeMethod", "rebase", "REBASE"],
] as const;

describe("settings", () => {
  it("have their documented defaults", async () => {
    const { queue } = await service.queue();
    expect(await queue.view()).toMatchObject({
      ...DEFAULTS,
      branch: "main",
      stateReason: null,
      switchingTo: null,
      allowUrgent: false,
      enqueuedPullRequests: [],
      truncated: false,
    });
  });

  it.each(Object.entries(OTHERS))("%s is kept as it was set, and the others as they were", async (name, value) => {
    const { queue } = await service.queue();
    const changed = await queue.update({ [name]: value });
    const followed = name === "concurrency" ? { bisectionConcurrency: value } : {};
    expect(changed).toMatchObject({ ...DEFAULTS, ...followed, [name]: value });
    expect(await queue.view()).toMatchObject(changed);
  });

  it.each(OTHER_ENUMS)("%s %s is shown as %s", async (name, sent, shown) => {
    const { queue } = await service.queue();
    await queue.update({ [name]: sent });
    expect(await eventually(queue.view, (view) => view[name] === shown)).toMatchObject({ ...DEFAULTS, [name]: shown });
  });

  it("can all be given to createQueue", async () => {
    const { queue } = await service.queue({ settings: { ...OTHERS, mode: "parallel", state: "paused" } });
    expect(await queue.view()).toMatchObject({ ...OTHERS, mode: "PARALLEL", state: "PAUSED", switchingTo: null });
  });

  it("bisectionConcurrency follows concurrency until it is set", async () => {
    const { queue } = await service.queue();
    expect((await queue.update({ concurrency: 9 })).bisectionConcurrency).toBe(9);
    await queue.update({ bisectionConcurrency: 2 });
    expect(await queue.update({ concurrency: 3 })).toMatchObject({ concurrency: 3, bisectionConcurrency: 2 });
  });

  it("an empty list of required statuses changes nothing; null and deleteRequiredStatuses drop them", async () => {
    const { queue } = await service.queue({ settings: { requiredStatuses: ["unit"] } });
    expect((await queue.update({ requiredStatuses: [] })).requiredStatuses).toEqual(["unit"]);
    expect((await queue.update({ requiredStatuses: null })).requiredStatuses).toBeNull();
    await queue.update({ requiredStatuses: ["lint"] });
    expect((await queue.update({ deleteRequiredStatuses: false })).requiredStatuses).toEqual(["lint"]);
    expect((await queue.update({ deleteRequiredStatuses: true })).requiredStatuses).toBeNull();
  });

  it("changes sent at the same time are all made", async () => {
    const { queue } = await service.queue();
    await Promise.all([
      queue.update({ concurrency: 11 }),
      queue.update({ batch: true }),
      queue.update({ mergeMethod: "rebase" }),
      queue.update({ enqueueingLabel: "x" }),
    ]);
    const expected = { concurrency: 11, batch: true, mergeMethod: "REBASE", enqueueingLabel: "x" };
    expect(await queue.view()).toMatchObject(expected);
  });

  it("SWITCHING_MODES is not for operators to ask for", async () => {
    const { queue } = await service.queue();
    expect((await queue.asks("/updateQueue", { state: "SWITCHING_MODES" })).status).toBe(400);
  });
});

describe("a queue's life", () => {
  it("a second one for the same branch is 409, whatever the case of its name; for another branch it is not", async () => {
    const { repo, queue } = await service.queue();
    for (const owner of [repo.key.owner, repo.key.owner.toUpperCase()]) {
      const again = await queue.asks("/createQueue", { repo: { ...queue.at.repo, owner } });
      expect([again.status, errorOf(again).code]).toEqual([409, "QUEUE_ALREADY_EXISTS"]);
    }
    expect((await queue.asks("/createQueue", { targetBranch: "release/1.0#x" })).status).toBe(200);
    const listed = await service.asks("/listQueues", { repo: queue.at.repo });
    expect(listed.body).toMatchObject({ queues: [{ branch: "main" }, { branch: "release/1.0#x" }] });
  });

  it("of twenty clients that create it at once, one succeeds and the others are told that it exists", async () => {
    const repo = service.repository();
    const queue = service.client(repo);
    const answers = await Promise.all(Array.from({ length: 20 }, () => queue.asks("/createQueue")));
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1);
    expect(answers.filter((one) => one.status === 409)).toHaveLength(19);
  });

  it("can be made, set and read before anything is connected or the repository is there", async () => {
    const at = { repo: { host: "github.com", owner: "acme", name: "app" }, targetBranch: "main" };
    expect((await service.asks("/createQueue", at)).status).toBe(200);
    expect((await service.asks("/updateQueue", { ...at, concurrency: 2 })).body).toMatchObject({ concurrency: 2 });
    const submitted = await service.asks("/submitPullRequest", { ...at, pr: { number: 5 } });
    expect(submitted.body).toMatchObject({ state: "NOT_READY", isCurrentlySubmittedToQueue: true });
    const told = await service.asks("/explainPullRequest", { ...at, pr: { number: 5 } });
    expect(told.body).toMatchObject({ state: "NOT_READY", position: null });
    expect(JSON.stringify(told.body)).toMatch(/no code host is connected for github\.com/u);
    expect((await service.asks("/deleteQueue", at)).status).toBe(409);
    expect((await service.asks("/cancelPullRequest", { ...at, pr: { number: 5 } })).status).toBe(200);
    expect((await service.asks("/deleteQueue", at)).status).toBe(200);
  });

  it("is deleted only when nobody is in it, and answers with what it was", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command }, settings: { concurrency: 3 } });
    repo.pullRequest(41, { files: { "a.txt": "1\n" } });
    await queue.submit(41);
    const refused = await queue.asks("/deleteQueue");
    expect([refused.status, errorOf(refused).code]).toEqual([409, "QUEUE_NOT_EMPTY"]);
    await queue.cancel(41);
    expect(await queue.remove()).toMatchObject({ branch: "main", concurrency: 3 });
    for (const path of ["/getQueue", "/deleteQueue", "/updateQueue"])
      expect(errorOf(await queue.asks(path)).code).toBe("QUEUE_NOT_FOUND");
    expect(errorOf(await queue.asks("/submitPullRequest", { pr: { number: 41 } })).code).toBe("QUEUE_NOT_FOUND");
    expect((await service.asks("/listQueues", { repo: queue.at.repo })).body).toEqual({ queues: [] });
  });

  it("made again it is a new one: default settings, nobody in it, and it works", async () => {
    const { repo, queue } = await service.queue({ settings: { concurrency: 3, state: "draining" } });
    await queue.remove();
    await queue.asks("/createQueue");
    expect(await queue.view()).toMatchObject({ ...DEFAULTS, enqueuedPullRequests: [] });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
  });
});

describe("pause, drain, resume", () => {
  it("PAUSED starts and lands nothing, admits nobody, and says who and why; RUNNING goes on", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [51, 52]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(51);
    await eventually(gate.waiting, (all) => all.includes("51"));
    const paused = await queue.update({ state: "paused", reason: "the incident" });
    expect(paused.state).toBe("PAUSED");
    expect(paused.stateReason).toMatch(/the incident.*admin/u);
    await queue.submit(52);
    gate.pass("51");
    await queue.reaches(51, "TESTS_PASSED");
    const told = await queue.explain(51);
    expect(told.blockers).toContainEqual(expect.objectContaining({ kind: "PAUSED" }));
    expect(told.summary).toContain("the incident");
    await queue.reaches(52, "NOT_READY");
    expect((await queue.explain(52)).summary).toContain("the incident");
    gate.pass("52");
    gate.pass("51,52");
    expect(await queue.update({ state: "running" })).toMatchObject({ state: "RUNNING" });
    await queue.ends(52);
    expect(repo.subjects("main")[0]).toBe("A change (#52)");
  });

  it("DRAINING ends those that are in, and admits nobody", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [53, 54]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(53);
    await eventually(gate.waiting, (all) => all.includes("53"));
    await queue.update({ state: "DRAINING" });
    await queue.submit(54);
    gate.pass("53");
    expect((await queue.ends(53)).state).toBe("MERGED");
    expect((await queue.get(54)).state).toBe("NOT_READY");
    gate.pass("54");
    await queue.update({ state: "RUNNING", reason: "" });
    expect((await queue.ends(54)).state).toBe("MERGED");
  });

  it("allowUrgent lets an urgent PR through a pause, and nobody else; it ends with the pause", async () => {
    const { repo, queue } = await service.queue({ settings: { state: "paused" } });
    for (const number of [1, 2]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(1);
    await queue.submit(2, { priority: "URGENT" });
    expect((await queue.get(2)).state).toBe("NOT_READY");
    expect(await queue.update({ allowUrgent: true })).toMatchObject({ state: "PAUSED", allowUrgent: true });
    expect((await queue.ends(2)).state).toBe("MERGED");
    expect((await queue.get(1)).state).toBe("NOT_READY");
    expect(await queue.update({ state: "RUNNING" })).toMatchObject({ allowUrgent: false });
    expect((await queue.ends(1)).state).toBe("MERGED");
  });

  it("a hold of the service (the target is gone) shows as PAUSED with its reason, and lifts when the branch is back", async () => {
    const { repo, queue } = await service.queue();
    const tip = repo.sha("main");
    repo.commit("other", { on: tip });
    repo.pullRequest(1, { on: tip, files: { "a.txt": "1\n" } });
    repo.git("update-ref", "-d", "refs/heads/main");
    await queue.submit(1);
    const held = await eventually(queue.view, (view) => view.state === "PAUSED");
    expect(held.stateReason).toMatch(/TARGET_MISSING|main/u);
    expect((await queue.explain(1)).blockers.length).toBeGreaterThan(0);
    repo.git("update-ref", "refs/heads/main", tip);
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect((await queue.view()).state).toBe("RUNNING");
  });

  it("clearHold is taken on a queue without a hold and changes nothing", async () => {
    const { queue } = await service.queue();
    expect(await queue.update({ clearHold: true })).toMatchObject({ state: "RUNNING", stateReason: null });
  });
});

describe("modes", () => {
  it("a queue without PRs switches at once", async () => {
    const { queue } = await service.queue();
    const { state, mode, switchingTo } = await queue.update({ mode: "parallel" });
    expect({ state, mode, switchingTo }).toEqual({ state: "RUNNING", mode: "PARALLEL", switchingTo: null });
  });

  it("with PRs in flight it shows SWITCHING_MODES, admits nobody, refuses another change, and switches when they ended", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: gate.command } });
    for (const number of [61, 62]) repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
    await queue.submit(61);
    await eventually(gate.waiting, (all) => all.includes("61"));
    expect(await queue.update({ mode: "parallel" })).toMatchObject({
      state: "SWITCHING_MODES",
      mode: "SINGLE",
      switchingTo: "PARALLEL",
    });
    const second = await queue.asks("/updateQueue", { mode: "single" });
    expect([second.status, errorOf(second).code]).toEqual([409, "MODE_CHANGE_IN_PROGRESS"]);
    expect((await queue.asks("/updateQueue", { mode: "parallel", concurrency: 4 })).status).toBe(200);
    await queue.submit(62);
    await queue.asks("/setImpactedTargets", { pr: { number: 62 }, impactedTargets: ["web"] });
    expect((await queue.get(62)).state).toBe("NOT_READY");
    expect(await queue.update({ state: "paused" })).toMatchObject({ state: "PAUSED", switchingTo: "PARALLEL" });
    expect(await queue.update({ state: "running" })).toMatchObject({ state: "SWITCHING_MODES" });
    for (const content of ["61", "62"]) gate.pass(content);
    expect((await queue.ends(61)).state).toBe("MERGED");
    expect((await queue.ends(62)).state).toBe("MERGED");
    expect(await queue.view()).toMatchObject({ state: "RUNNING", mode: "PARALLEL", switchingTo: null });
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
