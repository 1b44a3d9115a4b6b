import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CommitSha, runId } from "../../../shared/kernel/ids.ts";
import { aRepository, config } from "../../support/git-repository.ts";
import type { Command } from "../../../shared/code-host/git/sandbox.ts";
import { aBuild, aGitHost, built, eventually, type Fixture } from "./fixture.ts";

let f: Fixture;
let base: CommitSha;
let head: CommitSha;
/** While it is there, the check fails. */
const mark = (): string => join(f.data, "fails");
beforeEach(async () => {
  f = await aGitHost();
  base = f.repo.commit("main", { files: config({ unit: `test ! -e ${mark()}` }) });
  head = f.repo.pullRequest(1, { on: base, files: { "a.txt": "1" } });
});
afterEach(() => f.dispose());

const ownOf = async (on = f) => {
  const facts = await on.host.pullRequest(on.repo.key, 1, "main");
  return facts === "NOT_FOUND" ? facts : facts.own;
};
const tested = async (run: string, commit: CommitSha) => {
  await built(f, aBuild(f, run, commit));
  return f.ended(run);
};

describe("what the runs of a pull request's own head say", () => {
  test("counts after their run was closed, and after a restart", async () => {
    await tested("r", head);
    const own = await ownOf();
    expect(own).toMatchObject({
      tip: base,
      tree: f.repo.tree(head),
      statuses: [{ context: "unit", state: "SUCCESS" }],
    });
    await f.host.closeRun(f.repo.key, runId("r"), "mainline/pr-1/r");
    expect(await ownOf()).toEqual(own);
    await f.host.stop();
    const again = await aGitHost({ data: f.data });
    expect(await ownOf(again)).toBeUndefined();
    await again.host.recover();
    expect(await ownOf(again)).toEqual(own);
    await again.host.stop();
  });

  test("is that of one that passed, whatever came before and after; else that of the latest", async () => {
    const states = async () => {
      const own = await ownOf();
      return own === "NOT_FOUND" ? own : own?.statuses.map((one) => one.state);
    };
    writeFileSync(mark(), "");
    await tested("r1", head);
    expect(await states()).toEqual(["FAILURE"]);
    rmSync(mark());
    await tested("r2", head);
    expect(await states()).toEqual(["SUCCESS"]);
    writeFileSync(mark(), "");
    await tested("r3", head);
    expect(await states()).toEqual(["SUCCESS"]);
  });

  test("is nothing of a run that broke", async () => {
    const checks = config({ good: "true", bad: "true # MAINLINE_BAD" });
    const two = f.repo.pullRequest(1, { on: base, files: checks });
    await f.host.stop();
    // Of the two checks, one cannot be started.
    const wrap = (command: Command): Command =>
      JSON.stringify(command).includes("MAINLINE_BAD") ? { file: "/nonexistent", args: [] } : command;
    const broken = await aGitHost({ data: f.data, sandbox: { confined: false, wrap } });
    await built(broken, aBuild(broken, "r", two));
    await eventually(async () => ((await broken.statusesOf("r")).broken === null ? undefined : true));
    expect(await ownOf(broken)).toBeUndefined();
    await broken.host.stop();
  });

  test("is nothing while they run, and nothing of another repository", async () => {
    const slow = f.repo.pullRequest(1, { on: base, files: config({ unit: "sleep 30" }) });
    await built(f, aBuild(f, "slow", slow));
    expect(await ownOf()).toBeUndefined();
    const twin = aRepository(f.repositories, "acme/twin");
    twin.git("fetch", "--quiet", f.repo.dir, `${head}:refs/heads/main`);
    await f.host.buildRun({ ...aBuild(f, "twin", head), repo: twin.key });
    await f.ended("twin");
    f.repo.git("update-ref", "refs/pull/1/head", head);
    expect(await ownOf()).toBeUndefined();
  });
});
