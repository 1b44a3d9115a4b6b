import { readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, type TestContext } from "vitest";
import { LOG_BYTES_MAX } from "../../../shared/code-host/git/log-file.ts";
import { findSandbox, NO_SANDBOX } from "../../../shared/code-host/git/sandbox.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { config } from "../../support/git-repository.ts";
import { aBuild, aChange, aGitHost, built, eventually, type Fixture, type FixtureOptions } from "./fixture.ts";

let f: Fixture | undefined;
afterEach(async () => {
  await f?.dispose();
  f = undefined;
});

/** A host whose tip defines these checks, and a run of the tip. */
async function aRun(checks: Readonly<Record<string, string>>, options: FixtureOptions = {}, required: string[] = []) {
  const made = await aGitHost(options);
  f = made;
  const base = made.repo.commit("main", { files: { a: "a\n", ...config(checks) } });
  const request = aBuild(made, "r", base, { required });
  await built(made, request);
  return { ...made, base, request };
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0) && !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

const confined = await findSandbox({ hide: [], log: silentLog });

/** What needs a sandbox says in the closing lines of the run that there is none. */
const needs = (context: TestContext, possible: boolean): void => context.skip(!possible, "bwrap does not work here");

describe.each([
  ["in a sandbox", confined, confined.confined],
  ["unconfined", NO_SANDBOX, true],
] as const)("a check %s", (_, sandbox, possible) => {
  test("succeeds or fails by its exit status, and its log holds both outputs in order", async (context) => {
    needs(context, possible);
    const { ended, log } = await aRun({ good: "echo one; echo two >&2; echo three", bad: "exit 3" }, { sandbox });
    expect((await ended("r")).statuses).toMatchObject([
      { context: "good", state: "SUCCESS", description: "exit status 0" },
      { context: "bad", state: "FAILURE", description: "exit status 3" },
    ]);
    expect(await log("r", "good")).toBe("one\ntwo\nthree\n");
  });

  test("runs in a git worktree of the tested branch, and cannot change the repository", async (context) => {
    needs(context, possible);
    const command =
      "git status --short --branch; git log --format=%s; git tag x && git commit -q --allow-empty -m x; cat a";
    const { ended, log, repo, base } = await aRun({ git: command }, { sandbox });
    await ended("r");
    const text = await log("r", "git");
    expect(text).toContain("## mainline/pr-1/r");
    expect(text).toContain("A change");
    expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main\nrefs/heads/mainline/pr-1/r");
    expect(repo.sha("mainline/pr-1/r")).toBe(base);
  });

  test("sees nothing of the server's environment", async (context) => {
    needs(context, possible);
    process.env["MAINLINE_TEST_SECRET"] = "a secret of the server";
    const { ended, log, base } = await aRun({ env: "env -0 | sort -z | tr '\\0' '\\n'" }, { sandbox });
    await ended("r");
    delete process.env["MAINLINE_TEST_SECRET"];
    const variables = new Map(
      (await log("r", "env"))
        .trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    expect([...variables.keys()]).toEqual([
      "CI",
      "HOME",
      "LANG",
      "MAINLINE_ATTEMPT",
      "MAINLINE_BASE",
      "MAINLINE_BRANCH",
      "MAINLINE_CHECK",
      "MAINLINE_COMMIT",
      "MAINLINE_PULL_REQUESTS",
      "MAINLINE_RUN",
      "PATH",
      "PWD",
    ]);
    expect(variables.get("HOME")).not.toBe(process.env["HOME"]);
    expect(variables.get("MAINLINE_COMMIT")).toBe(base);
    expect(variables.get("MAINLINE_RUN")).toBe("r");
  });

  test("that writes without end has a log with its beginning and its end, and no more than a mebibyte", async (context) => {
    needs(context, possible);
    const before = process.memoryUsage().arrayBuffers;
    const command = "echo begin; head -c 300M /dev/zero | tr '\\0' 'x'; echo; echo end";
    const { ended } = await aRun({ loud: command }, { sandbox });
    const [status] = (await ended("r")).statuses;
    const path = fileURLToPath(status?.url ?? "");
    expect(status?.state).toBe("SUCCESS");
    expect(statSync(path).size).toBeLessThanOrEqual(LOG_BYTES_MAX);
    const text = readFileSync(path, "utf8");
    expect(text).toMatch(/^begin\nx+\n… \d+ bytes left out …\nx+\nend\n$/u);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
  });

  test("that never ends is ended by closing, with its children and theirs, whatever they ignore", async (context) => {
    needs(context, possible);
    const mark = 31_000 + (process.pid % 1_000) + (sandbox.confined ? 0.5 : 0);
    const command = `trap '' TERM INT HUP; (trap '' TERM; setsid sleep ${mark} & sleep ${mark} & sleep ${mark}) & sleep ${mark}`;
    const { host, repo, request, work, statusesOf } = await aRun({ endless: command }, { sandbox });
    const sleepers = (): number[] =>
      readdirSync("/proc")
        .filter((name) => /^\d+$/u.test(name))
        .map(Number)
        .filter((pid) => commandOf(pid) === `sleep\0${mark}\0`);
    const pids = await eventually(() => (sleepers().length === 4 ? sleepers() : undefined));
    expect(await statusesOf("r")).toMatchObject({ complete: false, statuses: [{ state: "PENDING" }] });
    await host.closeRun(repo.key, request.run, request.branch);
    expect(pids.filter(alive)).toEqual([]);
    expect(sleepers().filter(alive)).toEqual([]);
    expect(readdirSync(join(work, "runs", "r")).toSorted()).toEqual(["endless.1.log", "job.json"]);
  });

  test("that leaves something in the background ends when it ends, and takes it along", async (context) => {
    needs(context, possible);
    const { ended, log } = await aRun({ leaver: "sleep 1000 & echo $!; exit 4" }, { sandbox });
    expect((await ended("r")).statuses).toMatchObject([{ description: "exit status 4" }]);
    if (!sandbox.confined) expect(alive(Number((await log("r", "leaver")).trim()))).toBe(false);
  });

  test("may kill its own process group, as scripts do at their end", async (context) => {
    needs(context, possible);
    const { ended, log } = await aRun({ group: "trap 'kill 0' EXIT; sleep 1000 & echo said" }, { sandbox });
    expect((await ended("r")).statuses[0]?.description).toMatch(/^exit status \d+$/u);
    expect(await log("r", "group")).toContain("said");
  });

  test("may take away rights from its own files", async (context) => {
    needs(context, possible);
    const { ended, work } = await aRun({ rights: "mkdir -p d/e; touch d/e/f; chmod 000 d/e d" }, { sandbox });
    expect((await ended("r")).statuses[0]?.state).toBe("SUCCESS");
    await eventually(() => (readdirSync(join(work, "runs", "r")).length === 2 ? true : undefined));
  });

  test("may open /dev/stdout and /dev/stderr by name", async (context) => {
    needs(context, possible);
    const { ended, log } = await aRun({ dev: "echo one > /dev/stdout; echo two > /dev/stderr" }, { sandbox });
    expect((await ended("r")).statuses[0]?.state).toBe("SUCCESS");
    expect(await log("r", "dev")).toBe("one\ntwo\n");
  });
});

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

describe("a sandbox", () => {
  test("hides the service's data, the repositories and credentials, and lets nothing else be written", async (context) => {
    needs(context, confined.confined);
    const made = await aGitHost();
    const sandbox = await findSandbox({ hide: [made.data], log: silentLog });
    await made.dispose();
    const { ended, log, data } = await aRun(
      {
        look: [
          `cat ${made.data}/admin-token`,
          "find / -xdev -maxdepth 4 -name admin-token -print 2>/dev/null",
          `find ${tmpdir()} / -maxdepth 6 \\( -path /proc -o -path /sys -o -path /usr \\) -prune -o -name HEAD -path '*app.git*' -print 2>/dev/null`,
          `ls ${made.data} ${made.data}/repositories/acme/app.git`,
          "cat ~/.npmrc",
          "touch /etc/mainline-was-here /usr/mainline-was-here 2>/dev/null && echo written",
          `touch ${made.data}/x 2>/dev/null; cat /proc/*/environ | tr '\\0' '\\n' | grep -c VITEST`,
          "echo done",
        ].join("; "),
      },
      { sandbox, data: made.data },
    );
    await ended("r");
    const text = await log("r", "look");
    expect(text).toContain("No such file");
    expect(text).not.toContain("the-admin-token");
    expect(text).not.toContain("admin-token\n/");
    expect(text).not.toContain("written");
    expect(text).toMatch(/\n0\ndone\n$/u);
    expect(text).not.toContain("/HEAD");
    expect(readdirSync(data)).not.toContain("x");
  });

  test("that does not work here is said once, and checks run all the same", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = "/nonexistent";
    const lines: string[] = [];
    const found = await findSandbox({ hide: [], log: { ...silentLog, warn: (line) => lines.push(line) } });
    process.env["PATH"] = path;
    expect(found.confined).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^Checks run unconfined/u)]);
  });
});

describe("the checks of a run", () => {
  test("run no more at a time than they may, and those that wait can be given up at once", async () => {
    const checks = { one: "sleep 1000", two: "sleep 1000", three: "sleep 1000" };
    const { host, repo, request, work } = await aRun(checks, { checksAtOnce: 2 });
    const logs = () => readdirSync(join(work, "runs", "r")).filter((name) => name.endsWith(".log"));
    await eventually(() => (logs().length === 2 ? true : undefined));
    expect(logs()).toEqual(["one.1.log", "two.1.log"]);
    await host.closeRun(repo.key, request.run, request.branch);
    expect(logs()).toEqual(["one.1.log", "two.1.log"]);
  });

  test("are repeated with a log of their own, also those that have not ended", async () => {
    const { host, repo, ended, request } = await aRun({ slow: 'test "$MAINLINE_ATTEMPT" = 2 || sleep 1000' });
    await host.repeatChecks(repo.key, request.run, 1, ["slow", "unknown"]);
    const { statuses, repeats } = await ended("r");
    expect(repeats).toBe(1);
    expect(statuses).toMatchObject([{ state: "SUCCESS" }]);
    expect(statuses[0]?.url).toMatch(/slow\.2\.log$/u);
  });

  test("are reported as they move", async () => {
    let moves = 0;
    const { ended } = await aRun({ one: "true", two: "false" }, { news: { checksMoved: () => void moves++ } });
    await ended("r");
    expect(moves).toBe(2);
  });

  test("with any printable name get a file of their own", async () => {
    const names = ["../../etc/passwd", "a/b", "a b", "__proto__", "ünï", "x".repeat(200), "-rf", "."];
    const { ended, work } = await aRun(Object.fromEntries(names.map((name) => [name, "echo $MAINLINE_CHECK"])));
    const { statuses } = await ended("r");
    expect(statuses.map(({ context, state }) => [context, state])).toEqual(
      Object.keys(Object.fromEntries(names.map((name) => [name, ""]))).map((name) => [name, "SUCCESS"]),
    );
    expect(readdirSync(join(work, "runs", "r")).filter((name) => name.endsWith(".log"))).toHaveLength(statuses.length);
  });

  test("that are required but not defined fail, and say why", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: { ".mainline.yaml": "checks: [" } });
    await built(made, aBuild(made, "r", base, { required: ["unit"] }));
    expect(await made.ended("r")).toMatchObject({
      complete: true,
      statuses: [
        { context: "unit", state: "FAILURE", url: null, description: expect.stringContaining(".mainline.yaml") },
      ],
    });
  });

  test("come from the tested content, not from the tip", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: config({ unit: "false" }) });
    const head = made.repo.pullRequest(1, { files: config({ unit: "true", extra: "true" }) });
    await built(made, aBuild(made, "r", base, { changes: [aChange(1, head)] }));
    expect((await made.ended("r")).statuses).toMatchObject([{ state: "SUCCESS" }, { context: "extra" }]);
  });

  test("that cannot be run have no verdict", async () => {
    const sandbox = { confined: true, wrap: () => ({ file: "/nonexistent/bwrap", args: [] }) };
    const { ended } = await aRun({ unit: "true" }, { sandbox });
    expect(await ended("r")).toMatchObject({
      broken: expect.stringContaining("unit could not be run"),
      statuses: [{ state: "ERROR" }],
    });
  });

  test("of a run that was closed before it was built are not started", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: config({ unit: "true" }) });
    await made.host.closeRun(made.repo.key, runId("r"), "mainline/pr-1/r");
    expect(await made.host.buildRun(aBuild(made, "r", base))).toMatchObject({ ok: true });
    expect((await made.statusesOf("r")).broken).not.toBeNull();
    expect(made.repo.git("for-each-ref", "refs/heads/mainline")).toBe("");
    expect(readdirSync(join(made.work, "runs", "r"))).toEqual(["job.json"]);
  });
});
