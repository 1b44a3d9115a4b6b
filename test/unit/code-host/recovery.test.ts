import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { runId } from "../../../shared/kernel/ids.ts";
import { config } from "../../support/git-repository.ts";
import { aBuild, aChange, aGitHost, built, eventually, type Fixture } from "./fixture.ts";

let f: Fixture | undefined;
let server: ChildProcess | undefined;
afterEach(async () => {
  server?.kill("SIGKILL");
  await f?.dispose();
});

/** Another process with a host on the same folders, which builds this run and then waits to be killed. */
function otherProcess(made: Fixture, request: object): ChildProcess {
  const program = `
    import { createGitHost } from ${JSON.stringify(join(import.meta.dirname, "../../../shared/code-host/git/host.ts"))};
    import { NO_SANDBOX } from ${JSON.stringify(join(import.meta.dirname, "../../../shared/code-host/git/sandbox.ts"))};
    const quiet = () => {};
    const host = await createGitHost({
      org: "local", host: "git.local", repositories: ${JSON.stringify(made.repositories)}, work: ${JSON.stringify(made.work)},
      news: { checksMoved: quiet, refsMoved: quiet, reported: async () => true }, log: { info: quiet, warn: quiet, error: quiet },
      clock: Date.now, sandbox: NO_SANDBOX,
    });
    await host.recover();
    console.log(JSON.stringify(await host.buildRun(${JSON.stringify(request)})));
    setInterval(quiet, 1000);`;
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0) && !/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

describe("after the server was killed", () => {
  test("its checks are killed and run again, and what had ended keeps its result", async () => {
    const moved: string[] = [];
    const made = await aGitHost({ news: { checksMoved: (_repo, run) => void moved.push(run) } });
    f = made;
    const pids = join(made.data, "pids");
    const checks = {
      quick: `echo quick >> ${pids}.quick`,
      slow: `test -e ${pids}.go || { echo $$ >> ${pids}; setsid sleep 1000 & echo $! >> ${pids}; sleep 1000; }`,
    };
    const base = made.repo.commit("main", { files: config(checks) });
    const head = made.repo.pullRequest(1, { files: { b: "b" } });
    const request = aBuild(made, "r", base, { changes: [aChange(1, head)], required: ["quick"] });
    const other = otherProcess(made, request);
    server = other;
    const job = join(made.work, "runs", "r", "job.json");
    await eventually(() => (existsSync(job) && readFileSync(job, "utf8").includes("exit status 0") ? true : undefined));
    const left = await eventually(() => {
      const found = existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : [];
      return found.length === 2 ? found : undefined;
    });
    other.kill("SIGKILL");
    await new Promise((resolve) => other.on("exit", resolve));
    expect(left.some(alive)).toBe(true);
    writeFileSync(`${pids}.go`, "");

    await made.host.recover();
    expect(left.filter(alive)).toEqual([]);
    expect(moved).toContain("r");
    expect((await made.ended("r")).statuses).toMatchObject([{ state: "SUCCESS" }, { state: "SUCCESS" }]);
    expect(readFileSync(`${pids}.quick`, "utf8")).toBe("quick\n");
    expect(await built(made, request)).toMatchObject({ commit: made.repo.sha(request.branch) });
  });

  test("an effect that comes before recover() finds the run all the same", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: config({ unit: "sleep 1000" }) });
    const request = aBuild(made, "r", base);
    const other = otherProcess(made, request);
    server = other;
    await new Promise((resolve) => other.stdout?.once("data", resolve));
    other.kill("SIGKILL");
    await new Promise((resolve) => other.on("exit", resolve));
    expect(await made.statusesOf("r")).toMatchObject({ complete: false, broken: null });
    await made.host.closeRun(made.repo.key, request.run, request.branch);
    expect(made.repo.git("for-each-ref", "refs/heads/mainline")).toBe("");
  });
});

describe("recover()", () => {
  test("forgets runs that were closed more than seven days ago, and folders that hold no run", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: config({ unit: "true" }) });
    for (const run of ["old", "new", "open"]) {
      await built(made, aBuild(made, run, base, { branch: `mainline/pr-1/${run}` }));
      await made.ended(run);
      if (run !== "open") await made.host.closeRun(made.repo.key, runId(run), `mainline/pr-1/${run}`);
    }
    const runs = join(made.work, "runs");
    const job = JSON.parse(readFileSync(join(runs, "old", "job.json"), "utf8")) as object;
    writeFileSync(join(runs, "old", "job.json"), JSON.stringify({ ...job, closedAt: Date.now() - 8 * 86_400_000 }));
    mkdirSync(join(runs, "broken"));
    writeFileSync(join(runs, "broken", "job.json"), "{");
    await made.host.recover();
    expect(readdirSync(runs).toSorted()).toEqual(["new", "open"]);
    expect((await made.statusesOf("old")).broken).not.toBeNull();
  });
});

describe("stopping", () => {
  test("ends all checks and leaves them without a result", async () => {
    const made = await aGitHost();
    f = made;
    const base = made.repo.commit("main", { files: config({ unit: "echo $$; sleep 1000" }) });
    await built(made, aBuild(made, "r", base));
    const pid = await eventually(async () => Number(await made.log("r", "unit").catch(() => "")) || undefined);
    await made.host.stop();
    expect(alive(pid)).toBe(false);
    expect(await made.statusesOf("r")).toMatchObject({ complete: false, broken: null });
  });
});

describe("a repository that disappears", () => {
  test("is the host's trouble for everything, and works again when it is back", async () => {
    const made = await aGitHost();
    f = made;
    const { host, repo } = made;
    const base = repo.commit("main", { files: config({ unit: "true" }) });
    const head = repo.pullRequest(1, { files: { b: "b" } });
    const request = aBuild(made, "r", base, { changes: [aChange(1, head)] });
    await built(made, request);
    await made.ended("r");
    await rename(repo.dir, `${repo.dir}.away`);
    const trouble = expect.objectContaining({ message: expect.stringContaining("there is no repository acme/app") });
    await expect(host.pullRequest(repo.key, 1, "main")).rejects.toEqual(trouble);
    await expect(host.tip(repo.key, "main", null, [])).rejects.toBeInstanceOf(HostUnavailable);
    await expect(host.buildRun({ ...request, run: runId("r2") })).rejects.toBeInstanceOf(HostUnavailable);
    await host.repeatChecks(repo.key, request.run, 1, ["unit"]);
    expect((await made.ended("r")).broken).toContain("there is no repository");
    await host.closeRun(repo.key, request.run, request.branch);
    await rename(`${repo.dir}.away`, repo.dir);
    expect(await host.pullRequest(repo.key, 1, "main")).toMatchObject({ headSha: head });
    await host.recover();
    expect(repo.git("for-each-ref", "refs/heads/mainline")).toBe("");
  });
});
