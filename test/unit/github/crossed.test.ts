import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import type { MergeMethod } from "../../../shared/queue/engine/types.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { built, type Hosted, hosted, landingOf, NAME } from "./hosted.ts";

const MERGES = /^POST .*\/merges$/u;

let tables: Tables;
let on: Hosted;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  on = await hosted(tables);
});
afterEach(() => on.stop());

const files = (commit: string) => on.twin.git(NAME, "ls-tree", "--name-only", commit);
const WHO = ["-c", "user.name=a", "-c", "user.email=a@example.com"];

describe("two attempts at one thing", () => {
  test("of which GitHub ends the first while the second is at it land what was tested, or nothing", async () => {
    const { twin, host } = on;
    const one = await on.open("one", { "b.txt": "b\n" });
    const request = await on.request([one]);
    const made = await built(host, request);
    await twin.push(NAME, "main", { files: { "z.txt": "z\n" } });
    const landing = { ...landingOf(request, made), expectedTip: await on.tip() };
    twin.faults.fail(1, 502, MERGES);
    await expect(host.land(landing)).rejects.toThrow("502");

    const held = twin.faults.hold(MERGES);
    const second = on.another().land(landing);
    const isOver = second.catch((error: unknown) => error);
    await held.reached();
    const branch = "refs/heads/mainline/landing/q-1";
    const base = await twin.git(NAME, "rev-parse", branch);
    const head = twin.pull(NAME, one).head.sha;
    const tree = (await twin.git(NAME, "merge-tree", "--write-tree", base, head)).split("\n")[0] ?? "";
    const late = await twin.git(NAME, ...WHO, "commit-tree", tree, "-p", base, "-p", head, "-m", "late");
    await twin.git(NAME, "update-ref", branch, late);
    held.release();
    expect(await isOver).toBeInstanceOf(HostUnavailable);
    expect(await files("main")).toBe("a.txt\nz.txt");

    twin.faults.clear();
    expect(await host.land(landing)).toMatchObject({ ok: true });
    expect(await files("main")).toBe("a.txt\nb.txt\nz.txt");
  });

  test("of which each points the branch where the other does not expect it remember no other content", async () => {
    const { twin, host } = on;
    const [one, two] = [await on.open("one", { "b.txt": "b\n" }), await on.open("two", { "c.txt": "c\n" })];
    const both = await on.request([one, two]);
    const held = twin.faults.hold(MERGES);
    const first = host.buildRun(both).catch(() => null);
    await held.reached();
    const second = on
      .another()
      .buildRun(both)
      .catch(() => null);
    await held.reached(2);
    held.release();
    await Promise.all([first, second]);
    twin.faults.clear();
    for (const [at, numbers, expected] of [
      [2, [one], "a.txt\nb.txt"],
      [3, [one, two], "a.txt\nb.txt\nc.txt"],
    ] as const) {
      const again = await on.request(numbers, { run: runId(`q-${at}`), branch: `mainline/pr-1/q-${at}` });
      expect(await files((await built(on.another(), again)).commit)).toBe(expected);
    }
  });
});

describe("a target that is what it was, since what landed was reverted", () => {
  /** `two` contains `one`, and was tested before `one` landed. */
  async function reverted(mergeMethod: MergeMethod) {
    const { twin, host } = on;
    const one = await on.open("one", { "b.txt": "b\n" });
    await twin.push(NAME, "two", { on: twin.pull(NAME, one).head.sha, files: { "c.txt": "c\n" } });
    const two = await twin.openPullRequest(NAME, { head: "two", base: "main" });
    const before = await twin.git(NAME, "rev-parse", `${await on.tip()}^{tree}`);
    const tested = await on.request([two], { branch: `mainline/pr-${two}/q-1`, mergeMethod });
    const made = await built(host, tested);
    const first = await on.request([one], { run: runId("q-2"), branch: `mainline/pr-${one}/q-2` });
    await host.land(landingOf(first, await built(host, first)));
    const revert = await twin.git(NAME, ...WHO, "commit-tree", before, "-p", await on.tip(), "-m", "Revert one");
    await twin.git(NAME, "update-ref", "refs/heads/main", revert);
    await twin.pushed(NAME);
    return { two, tested: { ...landingOf(tested, made), expectedTip: await on.tip() } };
  }

  test("does not get it back with what is tested anew", async () => {
    const { two } = await reverted("MERGE_COMMIT");
    const request = await on.request([two], { run: runId("q-3"), branch: `mainline/pr-${two}/q-3` });
    expect(await on.host.land(landingOf(request, await built(on.host, request)))).toMatchObject({ ok: true });
    expect(await files("main")).toBe("a.txt\nc.txt");
  });

  test.each(["MERGE_COMMIT", "SQUASH"] as const)("does not get what was tested before, by %s", async (mergeMethod) => {
    const { tested } = await reverted(mergeMethod);
    expect(await on.host.land(tested)).toMatchObject({ ok: false, why: { kind: "REFUSED" } });
    expect(await on.tip()).toBe(tested.expectedTip);
  });
});

describe("what GitHub does not find or not allow", () => {
  test("is no fault of a pull request whose commit is there", async () => {
    const { twin, host } = on;
    const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
    twin.faults.fail(1, 404, MERGES, "Base does not exist");
    await expect(host.buildRun(request)).rejects.toThrow(/Base does not exist/u);
    expect(await host.buildRun(request)).toMatchObject({ ok: true });
  });

  test("keeps a branch, which is told, and tried again", async () => {
    const { twin, host } = on;
    const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
    await built(host, request);
    twin.faults.fail(1, 422, /^DELETE /u, "Repository rule violations found\n\nCannot delete this branch");
    await expect(host.closeRun(request.repo, request.run, request.branch)).rejects.toThrow(/a rule of the repository/u);
    expect(await twin.branches(NAME)).toContain(request.branch);
    await host.closeRun(request.repo, request.run, request.branch);
    expect(await twin.branches(NAME)).not.toContain(request.branch);
  });

  test("keeps a branch from being moved, which is told in its words", async () => {
    const { twin, host } = on;
    const request = await on.request([await on.open("one", { "b.txt": "b\n" })]);
    twin.faults.fail(1, 422, /^POST .*\/git\/refs$/u, "Repository rule violations found\n\nCannot create ref");
    await expect(host.buildRun(request)).rejects.toThrow(/Repository rule violations/u);
  });
});
