import { existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { config, type TestRepository } from "../support/git-repository.ts";
import { aService, type QueueClient, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
beforeAll(async () => {
  // What a check must not find in its environment.
  process.env["MAINLINE_TEST_SECRET"] = "hunter2-of-the-server";
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  delete process.env["MAINLINE_TEST_SECRET"];
  await Promise.all([service.stop(), gate.stop()]);
});

/** Processes whose command line holds this word. */
const processesWith = (word: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  });

/** The log of a status of the PR's latest run. */
async function logOf(queue: QueueClient, number: number, context = "unit"): Promise<string> {
  const { statusChecks = [] } = await queue.runs({ pr: { number } });
  return fileURLToPath(statusChecks.find((one) => one.context === context)?.url ?? "");
}

const opened = async (checks: Readonly<Record<string, string>>, number: number) => {
  const made = await service.queue({ checks });
  made.repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
  return made;
};

describe("checks that misbehave", () => {
  it("one that never ends, and ignores SIGTERM, is gone with its children when its PR is cancelled", async () => {
    const word = "4242.17";
    const { queue } = await opened(
      { unit: `trap '' TERM; sleep ${word} & (setsid sleep ${word} &) ; while :; do sleep ${word}; done` },
      1,
    );
    await queue.submit(1);
    await eventually(
      () => processesWith(word),
      (all) => all.length >= 3,
    );
    await queue.cancel(1);
    await eventually(
      () => processesWith(word),
      (all) => all.length === 0,
    );
  });

  it("one that never ends is gone when its PR is closed at the host, and the PR is CANCELLED", async () => {
    const word = "4242.18";
    const { repo, queue } = await opened({ unit: `sleep ${word}` }, 1);
    await queue.submit(1);
    await eventually(
      () => processesWith(word),
      (all) => all.length > 0,
    );
    await service.pr(repo, "close", "1");
    expect(await queue.ends(1)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_CLOSED" } });
    await eventually(
      () => processesWith(word),
      (all) => all.length === 0,
    );
  });

  it("one that writes 200 MB has its verdict, and a log of a megabyte with its beginning and its end", async () => {
    const noise = "head -c 200000000 /dev/zero | tr '\\0' x";
    const { queue } = await opened({ unit: `echo begin; ${noise}; echo; echo end` }, 1);
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    const path = await logOf(queue, 1);
    expect(statSync(path).size).toBeLessThan(1_100_000);
    const log = readFileSync(path, "utf8");
    expect(log.startsWith("begin\n")).toBe(true);
    expect(log.endsWith("end\n")).toBe(true);
    expect(log).toMatch(/… \d+ bytes left out …/u);
  });

  it("one that prints its environment finds nothing of the server's, and one that looks for the admin token finds none", async () => {
    const data = service.server().data;
    const look = [
      "env",
      `cat ${data}/admin-token ${data}/endpoint ${data}/table.db`,
      `ls -la ${data} ${service.folder}`,
      "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
      "find / -xdev -maxdepth 4 -name admin-token -exec cat {} +",
    ];
    const { queue } = await opened({ unit: `(${look.join("; ")}) 2>&1; true` }, 1);
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    const log = readFileSync(await logOf(queue, 1), "utf8");
    expect(log).toMatch(/^MAINLINE_PULL_REQUESTS=1$/mu);
    expect(log).toMatch(/^CI=true$/mu);
    expect(log).not.toContain("hunter2");
    expect(log).not.toMatch(/mlq_[0-9A-Za-z]{36}/u);
    const names = new Set([...log.matchAll(/^([A-Z_]+)=/gmu)].map((found) => found[1]));
    for (const name of names)
      expect(
        ["PATH", "HOME", "LANG", "CI", "PWD", "SHLVL", "OLDPWD", "_"].includes(name ?? "") ||
          name?.startsWith("MAINLINE_"),
      ).toBe(true);
  });

  it("one that writes outside its own folder, into the repository or over the data, changes nothing there", async () => {
    const data = service.server().data;
    const { repo, queue } = await opened({ unit: "true" }, 1);
    const attack = [
      `git --git-dir=${repo.dir} update-ref refs/heads/main HEAD`,
      `rm -rf ${repo.dir} ${data}/admin-token`,
      `touch ${data}/touched ${service.folder}/touched`,
      "git push origin HEAD:main",
      "git update-ref refs/heads/main HEAD",
    ];
    repo.pullRequest(2, { files: config({ unit: `(${attack.join("; ")}) >/dev/null 2>&1; false` }) });
    const before = repo.sha("main");
    await queue.submit(2);
    expect((await queue.ends(2)).state).toBe("FAILED");
    expect(repo.sha("main")).toBe(before);
    expect(existsSync(join(data, "admin-token"))).toBe(true);
    expect([data, service.folder].filter((folder) => existsSync(join(folder, "touched")))).toEqual([]);
  });
});

describe("names that are traps for git and the shell", () => {
  it.each(["a;touch${IFS}x", "$(id)", "a'b\"c&d|e", "ünï/cödé", "refs"])(
    "a queue on the branch %j tests and lands",
    async (branch) => {
      const { repo, queue } = await service.queue({ branch });
      const base = repo.sha(`refs/heads/${branch}`);
      repo.pullRequest(1, { on: base, files: { "a.txt": "1\n" } });
      await service.pr(repo, "retarget", "1", branch);
      await queue.submit(1);
      expect((await queue.ends(1)).state).toBe("MERGED");
      expect(repo.subjects(`refs/heads/${branch}`)[0]).toBe("A change (#1)");
    },
  );

  it("a branch named mainline, beside which no testing branch can be, is named as what is in the way", async () => {
    const { repo, queue } = await opened({ unit: "true" }, 1);
    repo.git("update-ref", "refs/heads/mainline", repo.sha("main"));
    await queue.submit(1);
    await eventually(
      () => queue.explain(1),
      (told) => told.summary.includes('has a branch "mainline"') && told.summary.includes("rename that branch"),
    );
    await queue.cancel(1);
  });

  it("a head branch, a title and an author that look like options or code change nothing", async () => {
    const { repo, queue } = await service.queue();
    const head = repo.pullRequest(1, {
      files: { "--help": "1\n", "$(id)": "2\n", "a b/c\td": "3\n" },
      message: "--exec=`id` $(id) \u001b[31m",
      author: "--author=x <$(id)@example.com>",
    });
    repo.git("update-ref", "refs/heads/--upload-pack=x", head);
    await queue.submit(1);
    const ended = await queue.ends(1);
    expect(ended).toMatchObject({ state: "MERGED", prAuthor: "--author=x" });
    expect(repo.subjects("main")[0]).toContain("--exec=`id` $(id)");
    expect(repo.read("main", "--help")).toBe("1");
  });

  it("a check's name may hold anything printable", async () => {
    const checks = { "../../../x": "true", "a b/c (1, node:22)": "true", "-rf": "true", ünit: "true" };
    const { queue } = await opened(checks, 1);
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
    const { requiredStatuses = [] } = await queue.runs({ pr: { number: 1 } });
    expect(requiredStatuses.toSorted()).toEqual(Object.keys(checks).toSorted());
  });
});

describe("a repository that disappears", () => {
  const away = (repo: TestRepository): string => `${repo.dir}.away`;

  it("fails nobody: those in the queue wait, and go on when it is back", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 101);
    await queue.submit(101);
    await eventually(gate.waiting, (all) => all.includes("101"));
    renameSync(repo.dir, away(repo));
    gate.pass("101");
    await eventually(
      () => queue.explain(101),
      (told) => /there is no repository/u.test(JSON.stringify(told)),
    );
    expect((await queue.get(101)).isCurrentlySubmittedToQueue).toBe(true);
    renameSync(away(repo), repo.dir);
    expect(
      await eventually(
        () => queue.get(101),
        (pr) => !pr.isCurrentlySubmittedToQueue,
      ),
    ).toMatchObject({ state: "MERGED" });
  });

  it("submitting while it is away is accepted, NOT_READY, with the host's trouble named; it is looked up later", async () => {
    const { repo, queue } = await opened({ unit: "true" }, 1);
    renameSync(repo.dir, away(repo));
    expect(await queue.submit(1)).toMatchObject({ state: "NOT_READY", prTitle: null });
    expect((await queue.explain(1)).summary).toMatch(/no repository/u);
    renameSync(away(repo), repo.dir);
    expect(
      await eventually(
        () => queue.get(1),
        (pr) => !pr.isCurrentlySubmittedToQueue,
      ),
    ).toMatchObject({ state: "MERGED" });
  });

  it("one that appears after the queue was made is seen without a restart", async () => {
    const at = { repo: { host: "git.local", owner: "late", name: "comer" }, targetBranch: "main" };
    expect((await service.asks("/createQueue", at)).status).toBe(200);
    const repo = service.repository({ name: "late/comer" });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    const queue = service.client(repo);
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
  });
});

describe("what people do at the host meanwhile", () => {
  it("a PR that is pushed to while it tests is CANCELLED, its checks end, and the new head can be submitted", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 111);
    await queue.submit(111);
    await eventually(gate.waiting, (all) => all.includes("111"));
    const head = repo.pullRequest(111, { files: { "b.txt": "2\n" } });
    expect(await queue.ends(111)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_PUSHED" } });
    await eventually(gate.waiting, (all) => !all.includes("111"));
    gate.pass("111");
    await queue.submit(111);
    expect(await queue.ends(111)).toMatchObject({ state: "MERGED", prSha: head });
  });

  it("a push to the target while runs are in progress voids them: tested again on the new tip, and landed there", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 112);
    await queue.submit(112);
    await eventually(gate.waiting, (all) => all.includes("112"));
    const first = await queue.runs({ pr: { number: 112 } });
    const pushed = repo.commit("main", { files: { "by-hand.txt": "1\n" }, message: "By hand" });
    await eventually(
      () => gate.asked("112"),
      (count) => count === 2,
    );
    expect((await queue.runs({ testRunId: first.testRunId })).status).toBe("CANCELLED");
    gate.pass("112");
    const ended = await queue.ends(112);
    const run = await queue.runs({ testRunId: ended.verifiedByTestRun });
    expect(run.baseSha).toBe(pushed);
    expect(repo.subjects("main").slice(0, 2)).toEqual(["A change (#112)", "By hand"]);
    expect((await queue.timeline(112)).map((move) => move.reason)).toContain("MANUAL_PUSH_TO_TARGET_BRANCH");
  });

  it("a push to the target after the tests passed and before the landing voids them as well", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 113);
    await queue.submit(113);
    await eventually(gate.waiting, (all) => all.includes("113"));
    await queue.update({ state: "paused" });
    gate.pass("113");
    await queue.reaches(113, "TESTS_PASSED");
    const pushed = repo.commit("main", { files: { "by-hand.txt": "1\n" }, message: "By hand" });
    await queue.update({ state: "running" });
    const ended = await queue.ends(113);
    expect(ended.state).toBe("MERGED");
    expect((await queue.runs({ testRunId: ended.verifiedByTestRun })).baseSha).toBe(pushed);
    expect(gate.asked("113")).toBe(2);
  });

  it("a queued PR that is merged by hand ends MERGED, and is not landed a second time", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 114);
    await queue.submit(114);
    await eventually(gate.waiting, (all) => all.includes("114"));
    repo.git("update-ref", "refs/heads/main", repo.sha("refs/pull/114/head"));
    expect(await queue.ends(114)).toMatchObject({ state: "MERGED", conclusion: { reason: "MERGED_BY_HAND" } });
    expect(repo.subjects("main")).toEqual(["A change", "First"]);
  });

  it("a draft is NOT_READY until it is ready; made a draft while it tests, it is CANCELLED", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 115);
    await service.pr(repo, "draft", "115");
    await queue.submit(115);
    const told = await eventually(
      () => queue.explain(115),
      (one) => one.state === "NOT_READY",
    );
    expect(told.summary).toMatch(/draft/u);
    await service.pr(repo, "ready", "115");
    await queue.reaches(115, "TESTING");
    await service.pr(repo, "draft", "115");
    expect(await queue.ends(115)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_DRAFTED" } });
  });

  it("retargeted away it is CANCELLED; submitted so it is NOT_READY, and retargeted back it is admitted by itself", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 116);
    repo.git("update-ref", "refs/heads/other", repo.sha("main"));
    await queue.submit(116);
    await queue.reaches(116, "TESTING");
    await service.pr(repo, "retarget", "116", "other");
    expect(await queue.ends(116)).toMatchObject({
      state: "CANCELLED",
      conclusion: { reason: "PULL_REQUEST_RETARGETED" },
    });
    const away = await queue.submit(116);
    expect(away).toMatchObject({
      state: "NOT_READY",
      readiness: { doesBaseBranchMatch: false },
      prBaseBranch: "other",
    });
    expect((await queue.explain(116)).summary).toMatch(/other/u);
    gate.pass("116");
    await service.pr(repo, "retarget", "116", "main");
    expect((await queue.ends(116)).state).toBe("MERGED");
  });

  it("submitted while it is closed it is CANCELLED with that reason; reopened and submitted again it lands", async () => {
    const { repo, queue } = await opened({ unit: "true" }, 1);
    await service.pr(repo, "close", "1");
    await queue.submit(1);
    expect(await queue.ends(1)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_CLOSED" } });
    await service.pr(repo, "open", "1");
    await queue.submit(1);
    expect((await queue.ends(1)).state).toBe("MERGED");
  });

  it("a PR whose ref is deleted while it tests leaves the queue", async () => {
    const { repo, queue } = await opened({ unit: gate.command }, 117);
    repo.pullRequest(118, { files: { "118.txt": "1\n" } });
    await queue.submit(117);
    await queue.submit(118);
    await queue.reaches(118, "TESTING");
    // Its end shows that the repository has been looked at: only what was seen there can be missed.
    repo.pullRequest(118, { files: { "118.txt": "2\n" } });
    await queue.ends(118);
    repo.git("update-ref", "-d", "refs/pull/117/head");
    expect(await queue.ends(117)).toMatchObject({ state: "CANCELLED", conclusion: { reason: "PULL_REQUEST_GONE" } });
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
