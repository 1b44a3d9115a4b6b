import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../../infra/local/pr.ts";
import { isBranchName } from "../../../shared/code-host/git/names.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { repoKey, runId } from "../../../shared/kernel/ids.ts";
import { aRepository, config } from "../../support/git-repository.ts";
import { aBuild, aChange, aGitHost, aLanding, built, eventually, type Fixture } from "./fixture.ts";

let f: Fixture;
beforeEach(async () => {
  f = await aGitHost();
});
afterEach(() => f.dispose());

describe("a repository's name", () => {
  test("finds its folder whatever the case", async () => {
    const other = aRepository(f.repositories, "Big-Org/My.Repo");
    const sha = other.commit("main", { files: { a: "a" } });
    const key = repoKey({ host: "GIT.local", owner: "BIG-org", name: "my.repo" });
    expect(await f.host.tip(key, "main", null, [])).toMatchObject({ tip: { sha } });
  });

  test.each([
    ["..", "app"],
    ["acme", ".."],
    ["acme/../acme", "app"],
    ["acme", "../acme/app"],
    ["acme", "app\n"],
    ["acme", "app.git"],
    ["", "app"],
    ["-acme", "app"],
  ])("that is no name reaches nothing: %j/%j", async (owner, name) => {
    f.repo.commit("main", { files: { a: "a" } });
    await expect(f.host.tip({ host: "git.local", owner, name }, "main", null, [])).rejects.toThrow(HostUnavailable);
  });

  test("does not follow a link out of the folder", async () => {
    const outside = aRepository(join(f.data, "outside"), "acme/secret");
    outside.commit("main", { files: { a: "a" } });
    mkdirSync(join(f.repositories, "evil"), { recursive: true });
    symlinkSync(outside.dir, join(f.repositories, "evil", "link.git"));
    symlinkSync(join(f.data, "outside", "acme"), join(f.repositories, "other"));
    for (const [owner, name] of [
      ["evil", "link"],
      ["other", "secret"],
    ] as const)
      await expect(f.host.tip({ host: "git.local", owner, name }, "main", null, [])).rejects.toThrow(HostUnavailable);
  });

  test("of another host reaches nothing", async () => {
    await expect(f.host.tip({ ...f.repo.key, host: "github.com" }, "main", null, [])).rejects.toThrow(HostUnavailable);
  });
});

describe("a repository with SHA-256 names", () => {
  test("is built, tested and landed on like any other", async () => {
    const other = aRepository(f.repositories, "acme/long", "sha256");
    const base = other.commit("main", { files: { a: "a", ...config({ unit: "git log --format=%H" }) } });
    const head = other.pullRequest(1, { files: { b: "b" } });
    const request = aBuild(f, "r", base, { repo: other.key, changes: [aChange(1, head)], mergeMethod: "REBASE" });
    const tested = await built(f, request);
    expect(tested.commit).toHaveLength(64);
    expect((await f.ended("r")).statuses).toMatchObject([{ state: "SUCCESS" }]);
    expect(await f.host.pullRequest(other.key, 1, "main")).toMatchObject({ mergeability: "MERGEABLE" });
    expect(await f.host.land(aLanding(request, tested))).toMatchObject({ ok: true, value: { trees: "EQUAL" } });
  });
});

describe("a repository's own configuration", () => {
  test("runs nothing: no hooks, monitors, filters, merge drivers or includes", async () => {
    const witness = join(f.data, "witness");
    const script = join(f.data, "script");
    writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${witness}\ncat\n`);
    chmodSync(script, 0o755);
    const attributes = { ".gitattributes": "* filter=evil merge=evil diff=evil\n" };
    const base = f.repo.commit("main", { files: { a: "1\n2\n3\n", ...attributes, ...config({ unit: "cat a" }) } });
    const head = f.repo.pullRequest(1, { on: base, files: { a: "one\n2\n3\n" } });
    const tip = f.repo.commit("main", { files: { a: "1\n2\nthree\n" } });
    for (const hook of ["reference-transaction", "post-checkout", "post-index-change", "update", "post-update"]) {
      mkdirSync(join(f.repo.dir, "hooks"), { recursive: true });
      writeFileSync(join(f.repo.dir, "hooks", hook), `#!/bin/sh\necho ${hook} >> ${witness}\n`);
      chmodSync(join(f.repo.dir, "hooks", hook), 0o755);
    }
    for (const [key, value] of [
      ["core.hooksPath", join(f.repo.dir, "hooks")],
      ["core.fsmonitor", script],
      ["core.sshCommand", script],
      ["core.pager", script],
      ["filter.evil.smudge", script],
      ["filter.evil.clean", script],
      ["filter.evil.process", script],
      ["merge.evil.driver", `${script} %A`],
      ["diff.evil.textconv", script],
      ["diff.external", script],
      ["gpg.program", script],
      ["commit.gpgSign", "true"],
      ["log.showSignature", "true"],
      ["include.path", join(f.data, "more")],
    ] as const)
      f.repo.git("config", key, value);
    writeFileSync(join(f.repo.dir, "info", "attributes"), "* filter=evil merge=evil\n");
    const request = aBuild(f, "r", tip, { changes: [aChange(1, head)] });
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ mergeability: "MERGEABLE" });
    const tested = await built(f, request);
    expect((await f.ended("r")).statuses).toMatchObject([{ state: "SUCCESS" }]);
    expect(await f.log("r", "unit")).toBe("one\n2\nthree\n");
    expect(await f.host.land(aLanding(request, tested))).toMatchObject({ ok: true });
    await f.host.look();
    await f.host.closeRun(f.repo.key, request.run, request.branch);
    expect(existsSync(witness)).toBe(false);
  });
});

describe("names of runs and branches", () => {
  test("that would lead elsewhere are not used", async () => {
    const base = f.repo.commit("main", { files: { a: "a" } });
    for (const branch of ["main", "mainline", "mainline/../main", "mainline/a b", "mainline/x.lock", "mainline/-x\n"])
      await expect(f.host.buildRun(aBuild(f, "r", base, { branch }))).rejects.toThrow(HostUnavailable);
    for (const run of ["..", "../x", "a/b", "", "a\nb"])
      await expect(f.host.statuses(f.repo.key, runId(run))).rejects.toThrow(HostUnavailable);
    await f.host.closeRun(f.repo.key, runId("r9"), "main");
    expect(f.repo.sha("main")).toBe(base);
  });

  test("follow git's own rule", () => {
    for (const name of ["main", "a/b", "refs/heads/x", "ü", "a-b", "release/1.0", "a@b"])
      expect([name, isBranchName(name)]).toEqual([name, true]);
    for (const name of [
      "",
      "-x",
      "a..b",
      "a b",
      "a~",
      "a^",
      "a:",
      "a?",
      "a*",
      "a[",
      "a\\",
      "/a",
      "a/",
      "a//b",
      ".a",
      "a/.b",
      "a.",
      "a.lock",
      "a/b.lock/c",
      "@",
      "HEAD",
      "a@{b",
      "a\n",
      "a\0",
    ])
      expect([name, isBranchName(name)]).toEqual([name, false]);
  });
});

describe("a pull request", () => {
  test("has the name of the only branch at its head, else of its ref", async () => {
    const base = f.repo.commit("main", { files: { a: "a" } });
    const head = f.repo.pullRequest(7, { on: base, files: { b: "b" } });
    const name = async () => {
      const facts = await f.host.pullRequest(f.repo.key, 7, "main");
      return facts === "NOT_FOUND" ? facts : facts.headBranch;
    };
    expect(await name()).toBe("pull/7");
    f.repo.git("update-ref", "refs/heads/mainline/pr-7/r", head);
    expect(await name()).toBe("pull/7");
    f.repo.git("update-ref", "refs/heads/topic", head);
    expect(await name()).toBe("topic");
    f.repo.git("update-ref", "refs/heads/topic2", head);
    expect(await name()).toBe("pull/7");
  });

  test("takes a strange tip commit as it is", async () => {
    const base = f.repo.commit("main", { files: { a: "a" } });
    f.repo.pullRequest(1, { on: base, message: "Line one\nline two\n\nbody", author: "Ünï Côde <u@example.com>" });
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({
      title: "Line one line two",
      author: { name: "Ünï Côde", email: "u@example.com" },
    });
    f.repo.pullRequest(2, { on: base, message: "" });
    expect(await f.host.pullRequest(f.repo.key, 2, "main")).toMatchObject({ title: "Pull request 2" });
    const blob = f.repo.git("rev-parse", `${base}:a`);
    f.repo.git("update-ref", "refs/pull/3/head", blob);
    expect(await f.host.pullRequest(f.repo.key, 3, "main")).toBe("NOT_FOUND");
  });

  test("is meant for the default branch, or for the one asked about where HEAD names none", async () => {
    const base = f.repo.commit("trunk", { files: { a: "a" } });
    f.repo.pullRequest(1, { on: base, files: { b: "b" } });
    expect(await f.host.pullRequest(f.repo.key, 1, "trunk")).toMatchObject({ baseBranch: "trunk" });
    f.repo.commit("main", { on: base, files: { c: "c" } });
    expect(await f.host.pullRequest(f.repo.key, 1, "trunk")).toMatchObject({ baseBranch: "main" });
  });

  test("is judged without leaving objects in the repository", async () => {
    const base = f.repo.commit("main", { files: { a: "a" } });
    f.repo.pullRequest(1, { on: base, files: { b: "b" } });
    f.repo.commit("main", { files: { c: "c" } });
    const before = f.repo.git("count-objects", "-v");
    expect(await f.host.pullRequest(f.repo.key, 1, "main")).toMatchObject({ mergeability: "MERGEABLE" });
    expect(f.repo.git("count-objects", "-v")).toBe(before);
  });
});

describe("npm run pr", () => {
  const pr = async (...args: string[]) => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const status = await main([...args, "--repositories", f.repositories], say, say);
    return `${status} ${lines.join("\n")}`;
  };
  const facts = () => f.host.pullRequest(f.repo.key, 1, "main");

  test("closes, opens, drafts, readies and retargets", async () => {
    f.repo.commit("main", { files: { a: "a" } });
    f.repo.pullRequest(1, { files: { b: "b" } });
    expect(await pr("close", "1")).toBe("0 #1 is closed, into the default branch.");
    expect(await facts()).toMatchObject({ state: "CLOSED" });
    await pr("open", "1");
    await pr("draft", "1");
    expect(await facts()).toMatchObject({ state: "OPEN", draft: true });
    await pr("ready", "1", "--repo", "ACME/app");
    expect(await pr("retarget", "1", "release")).toBe("0 #1 is open, into release.");
    expect(await facts()).toMatchObject({ draft: false, baseBranch: "release" });
  });

  test("says what is wrong", async () => {
    f.repo.pullRequest(1, { files: { b: "b" } });
    expect(await pr("merge", "1")).toMatch(/^1 There is no command "merge"/u);
    expect(await pr("close")).toMatch(/^1 close needs the number/u);
    expect(await pr("close", "x")).toMatch(/^1 close needs the number/u);
    expect(await pr("close", "9")).toMatch(/^1 There is no pull request 9 in acme\/app/u);
    expect(await pr("retarget", "1")).toMatch(/^1 retarget needs one branch/u);
    expect(await pr("retarget", "1", "a b")).toMatch(/^1 "a b" is not a branch name/u);
    expect(await pr("close", "1", "--repo", "x/y")).toMatch(/^1 there is no repository x\/y/u);
    expect(await pr("close", "1", "--what")).toMatch(/^1 /u);
    renameSync(f.repositories, `${f.repositories}.away`);
    expect(await pr("close", "1")).toMatch(/^1 The folder .* cannot be read/u);
  });
});

describe("the watch", () => {
  test("tells of what is there at first, then only of what moved", async () => {
    const { host, moved } = f;
    const base = f.repo.commit("main", { files: { a: "a" } });
    f.repo.pullRequest(1, { on: base, files: { b: "b" } });
    f.repo.pullRequest(2, { on: base, files: { c: "c" } });
    const take = async () => {
      await host.look();
      const seen = { prNumbers: moved.prNumbers.splice(0), branches: moved.branches.splice(0) };
      return seen;
    };
    expect(await take()).toEqual({ prNumbers: [1, 2], branches: ["main"] });
    expect(await take()).toEqual({ prNumbers: [], branches: [] });
    f.repo.pullRequest(2, { on: base, files: { c: "d" } });
    expect(await take()).toEqual({ prNumbers: [2], branches: [] });
    await main(
      ["draft", "1", "--repositories", f.repositories],
      () => {},
      () => {},
    );
    expect(await take()).toEqual({ prNumbers: [1], branches: [] });
    f.repo.git("update-ref", "refs/heads/mainline/pr-1/r", base);
    expect(await take()).toEqual({ prNumbers: [], branches: [] });
    f.repo.git("update-ref", "-d", "refs/pull/2/head");
    f.repo.git("update-ref", "-d", "refs/heads/main");
    expect(await take()).toEqual({ prNumbers: [2], branches: ["main"] });
    aRepository(f.repositories, "later/one").commit("trunk", { files: { a: "a" } });
    expect(await take()).toEqual({ prNumbers: [], branches: ["trunk"] });
    renameSync(join(f.repositories, "later", "one.git"), join(f.data, "gone.git"));
    expect(await take()).toEqual({ prNumbers: [], branches: ["trunk"] });
    renameSync(f.repositories, `${f.repositories}.away`);
    expect(await take()).toEqual({ prNumbers: [1], branches: [] });
    renameSync(`${f.repositories}.away`, f.repositories);
    expect(await take()).toEqual({ prNumbers: [1], branches: [] });
  });

  test("looks every second until it is stopped", async () => {
    f.repo.commit("main", { files: { a: "a" } });
    f.host.watch();
    f.host.watch();
    await eventually(() => (f.moved.branches.length > 0 ? true : undefined));
    expect(f.moved.branches).toEqual(["main"]);
    f.repo.commit("next", { files: { a: "a" } });
    await eventually(() => (f.moved.branches.length > 1 ? true : undefined));
    expect(f.moved.branches).toEqual(["main", "next"]);
    await f.host.stop();
    f.repo.commit("last", { files: { a: "a" } });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(f.moved.branches).toEqual(["main", "next"]);
  });
});
