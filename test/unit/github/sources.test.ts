/** Required statuses that a certain App has to set: what anybody else says under their name is no evidence. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ACTIONS } from "../../support/github/people/actions.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { built, type Hosted, hosted, NAME, REPO } from "./hosted.ts";

const CI = { id: 72, slug: "build-farm", name: "Build farm" };
const STRANGER = { id: 99, slug: "stranger", name: "Stranger" };
const FOREIGN = "unit (not from the expected source)";
const RERUN = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs";

let tables: Tables;
let on: Hosted;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
});
afterEach(() => on.stop());

type By = "protection" | "ruleset";
const requires = (by: By, ...apps: readonly number[]): void =>
  on.twin.protect(NAME, "main", { by, requiredStatuses: apps.map((appId) => ({ context: "unit", appId })) });

/** A test run, and what is known of its statuses. */
async function tested() {
  const request = await on.request([await on.open("one", { "b.txt": "b\n" })], { required: ["unit"] });
  const { commit } = await built(on.host, request);
  const known = async () => {
    const { statuses, complete } = await on.host.statuses(REPO, request.run);
    return { complete, ...Object.fromEntries(statuses.map((one) => [one.context, one.state])) };
  };
  return { run: request.run, commit, known };
}

describe.each<By>(["protection", "ruleset"])("by %s, a check", (by) => {
  test("counts from the App that the target names, and from no other", async () => {
    requires(by, ACTIONS.id);
    const { commit, known } = await tested();
    await on.twin.setCheckRun(NAME, commit, "unit", "success", { app: STRANGER });
    expect(await known()).toEqual({ complete: false, [FOREIGN]: "SUCCESS" });
    await on.twin.setCheckRun(NAME, commit, "unit", "failure");
    expect(await known()).toEqual({ complete: true, unit: "FAILURE", [FOREIGN]: "SUCCESS" });
  });

  test("is not failed by another App either", async () => {
    requires(by, ACTIONS.id);
    const { commit, known } = await tested();
    await on.twin.setCheckRun(NAME, commit, "unit", "success");
    await on.twin.setCheckRun(NAME, commit, "unit", "failure", { app: STRANGER });
    expect(await known()).toEqual({ complete: true, unit: "SUCCESS", [FOREIGN]: "FAILURE" });
  });

  test("that several Apps have to report waits for each", async () => {
    requires(by, ACTIONS.id, CI.id);
    const { commit, known } = await tested();
    await on.twin.setCheckRun(NAME, commit, "unit", "success");
    expect(await known()).toEqual({ complete: false, unit: "PENDING" });
    await on.twin.setCheckRun(NAME, commit, "unit", "success", { app: CI });
    expect(await known()).toEqual({ complete: true, unit: "SUCCESS" });
  });

  test("counts from anybody where any source will do", async () => {
    requires(by, -1);
    const { commit, known } = await tested();
    await on.twin.setCheckRun(NAME, commit, "unit", "success", { app: STRANGER });
    expect(await known()).toEqual({ complete: true, unit: "SUCCESS" });
  });
});

describe("a commit status", () => {
  test("counts from the App that the target names, whatever others said since", async () => {
    requires("ruleset", CI.id);
    const { commit, known } = await tested();
    await on.twin.setStatus(NAME, commit, "unit", "success");
    expect(await known()).toEqual({ complete: false, [FOREIGN]: "SUCCESS" });
    await on.twin.setStatus(NAME, commit, "unit", "pending", { app: CI });
    await on.twin.setStatus(NAME, commit, "unit", "failure", { app: CI });
    await on.twin.setStatus(NAME, commit, "unit", "success", { app: STRANGER });
    expect(await known()).toEqual({ complete: true, unit: "FAILURE", [FOREIGN]: "SUCCESS" });
  });

  test("and a check of the same App have to pass both", async () => {
    requires("ruleset", CI.id);
    const { commit, known } = await tested();
    await on.twin.setStatus(NAME, commit, "unit", "failure", { app: CI });
    await on.twin.setCheckRun(NAME, commit, "unit", "success", { app: CI });
    expect(await known()).toEqual({ complete: true, unit: "FAILURE" });
    await on.twin.setStatus(NAME, commit, "unit", "success", { app: CI });
    expect(await known()).toEqual({ complete: true, unit: "SUCCESS" });
  });

  test("of an App that is not ours to see counts for nothing", async () => {
    requires("ruleset", CI.id);
    const { commit, known } = await tested();
    await on.twin.setStatus(NAME, commit, "unit", "success", { app: CI });
    on.twin.faults.fail(1, 404, /^GET \/apps\//u);
    expect(await known()).toEqual({ complete: false, [FOREIGN]: "SUCCESS" });
  });

  test("is read with who set it only where that matters", async () => {
    on.twin.protect(NAME, "main", { requiredStatuses: ["unit", { context: "deep", appId: CI.id }] });
    const { commit, known } = await tested();
    await on.twin.setStatus(NAME, commit, "unit", "success");
    expect(await known()).toEqual({ complete: true, unit: "SUCCESS" });
    expect(on.twin.counts.of("GET /repos/{owner}/{repo}/commits/{ref}/statuses")).toBe(0);
  });
});

test("nothing is built while GitHub does not show what the target expects", async () => {
  requires("protection", CI.id);
  const request = await on.request([await on.open("one", { "b.txt": "b\n" })], { required: ["unit"] });
  on.twin.faults.fail(1, 404, /^GET .*\/branches\/main$/u);
  await expect(on.host.buildRun(request)).rejects.toThrow("GitHub knows no branch main");
  expect(await on.host.buildRun(request)).toMatchObject({ ok: true });
});

test("only the check of the App that counts is run again", async () => {
  requires("protection", ACTIONS.id);
  const { run, commit, known } = await tested();
  await on.twin.setCheckRun(NAME, commit, "unit", "failure");
  await on.twin.setCheckRun(NAME, commit, "unit", "failure", { app: STRANGER });
  await on.host.repeatChecks(REPO, run, 1, ["unit"]);
  expect(on.twin.counts.of(RERUN)).toBe(1);
  expect(await known()).toEqual({ complete: false, unit: "PENDING", [FOREIGN]: "FAILURE" });
});

test("nor does a stranger's word let a head be merged directly", async () => {
  requires("protection", CI.id);
  const number = await on.open("one", { "b.txt": "b\n" });
  const { headSha } = on.changeOf(number);
  await on.twin.setCheckRun(NAME, headSha, "unit", "success", { app: STRANGER });
  const read = async () => {
    const facts = await on.host.pullRequest(REPO, number, "main");
    return facts === "NOT_FOUND" ? facts : facts.own?.statuses.map(({ context, state }) => [context, state]);
  };
  expect(await read()).toEqual([[FOREIGN, "SUCCESS"]]);
  await on.twin.setCheckRun(NAME, headSha, "unit", "success", { app: CI });
  expect(await read()).toContainEqual(["unit", "SUCCESS"]);
});
