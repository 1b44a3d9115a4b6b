/** The target branch, as GitHub tells of it where it has no rulesets to tell of, or another branch in its place. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Place } from "../../../shared/code-host/github/place.ts";
import { tipAt } from "../../../shared/code-host/github/tip.ts";
import { treeSha } from "../../../shared/kernel/ids.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { type Hosted, hosted, NAME, REPO } from "./hosted.ts";

const RULES = /^GET .*\/rules\/branches\//u;
const UPGRADE = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
const REQUIRED = { source: "BRANCH_PROTECTION", statuses: ["unit"] };

let tables: Tables;
let on: Hosted;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
});
afterEach(() => on.stop());

const tipOf = (branch: string) => on.host.tip(REPO, branch, null, []);

/** As it is read after something was landed. */
async function landedOn(branch: string) {
  const id = await on.twin.installation("acme");
  const { client, memory } = on;
  const at = { owner: "acme", repo: "app" };
  const place: Place = { ask: client.as(id), spare: client.spare(id), key: REPO, at, appId: client.appId, memory };
  const tree = treeSha(await on.twin.git(NAME, "rev-parse", `${await on.tip()}^{tree}`));
  return tipAt(place, branch, { sha: await on.tip(), tree });
}

describe("a private repository whose plan has no rulesets", () => {
  beforeEach(() => on.twin.faults.fail(2, 403, RULES, UPGRADE));

  test("has a tip, which requires nothing", async () => {
    expect(await tipOf("main")).toMatchObject({ tip: { sha: await on.tip(), required: null } });
    expect(await landedOn("main")).toMatchObject({ sha: await on.tip(), required: null });
  });

  test("requires what its configuration says", async () => {
    await on.twin.push(NAME, "main", { files: { ".mainline.yaml": "required_statuses: [lint]\n" } });
    expect(await tipOf("main")).toMatchObject({ tip: { required: { source: "CONFIG_FILE", statuses: ["lint"] } } });
  });
});

test("rulesets that may not be read are not none", async () => {
  on.twin.protect(NAME, "main", { requiredStatuses: ["unit"], by: "ruleset" });
  on.twin.faults.fail(2, 403, RULES, "Resource not accessible by integration");
  await expect(tipOf("main")).rejects.toThrow("Resource not accessible");
  await expect(landedOn("main")).rejects.toThrow("Resource not accessible");
  expect(await tipOf("main")).toMatchObject({ tip: { required: REQUIRED } });
});

describe("a branch is missing, whatever GitHub leads to in its place,", () => {
  test("when it was renamed, until there is one of its name again", async () => {
    on.twin.protect(NAME, "main", { requiredStatuses: ["unit"] });
    expect(await tipOf("main")).toMatchObject({ tip: { required: REQUIRED } });
    expect(await landedOn("main")).toMatchObject({ required: REQUIRED });
    const sha = await on.tip();
    await on.twin.renameBranch(NAME, "main", "trunk");
    expect(await tipOf("main")).toBe("MISSING");
    expect(await tipOf("trunk")).toMatchObject({ tip: { sha, required: REQUIRED } });
    await on.twin.git(NAME, "branch", "main", "trunk");
    expect(await tipOf("main")).toMatchObject({ tip: { sha, required: null } });
  });

  test("when it was called master and was deleted, also where something landed a moment ago", async () => {
    await on.twin.push(NAME, "master", { files: { "m.txt": "m\n" } });
    expect(await tipOf("master")).toHaveProperty("tip");
    on.twin.protect(NAME, "main", { requiredStatuses: ["unit"] });
    await on.twin.deleteBranch(NAME, "master");
    expect(await tipOf("master")).toBe("MISSING");
    expect(await landedOn("master")).toMatchObject({ required: null });
  });
});
