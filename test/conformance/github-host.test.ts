import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll } from "vitest";
import * as z from "zod";
import { createClient } from "../../shared/code-host/github/client.ts";
import { createGitHubHost } from "../../shared/code-host/github/host.ts";
import type { CodeHost } from "../../shared/code-host/port.ts";
import { commitSha, orgSlug } from "../../shared/kernel/ids.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { githubMemory } from "../../shared/table/github-memory.ts";
import { aFolder } from "../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../support/github/twin.ts";
import { sharedTable, type Tables } from "../support/table.ts";
import { codeHostConformance, type HostFixture } from "./code-host.ts";

const NAME = "acme/app";
const REPO = { host: "github.com", owner: "acme", name: "app" };
const ORG = orgSlug("local");
const HAND = ["-c", "user.name=Hand", "-c", "user.email=hand@example.com"];
const RERUN = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs";

const kinds = z.object({ checks: z.record(z.string(), z.enum(["pass", "fail", "fail once", "hang"])) });

/** A CI that reads what each check is to do from the commit that it checks. */
function playCi(twin: GitHubTwin) {
  const kindsAt = async (sha: string) => {
    const text = await twin.git(NAME, "show", `${sha}:.mainline.yaml`).catch(() => '{"checks":{}}');
    return Object.entries(kinds.parse(JSON.parse(text)).checks);
  };
  const check = async (sha: string, attempt: number, only?: readonly string[]): Promise<void> => {
    for (const [name, kind] of await kindsAt(sha)) {
      if (only !== undefined && !only.includes(name)) continue;
      const passes = kind === "pass" || (kind === "fail once" && attempt > 1);
      const state = kind === "hang" ? "in_progress" : passes ? "success" : "failure";
      await twin.setCheckRun(NAME, sha, name, state, { again: attempt > 1 });
    }
  };
  twin.onTestingBranch(({ sha }) => void check(sha, 1).catch(() => {}));
  return check;
}

/** The host, for somebody who waits until GitHub has made up its mind, with a CI that runs again what it is asked to. */
function answering(host: CodeHost, twin: GitHubTwin, check: ReturnType<typeof playCi>): CodeHost {
  const heads = new Map<string, string>();
  return {
    ...host,
    buildRun: async (request) => {
      const built = await host.buildRun(request);
      if (built.ok) heads.set(request.run, built.value.commit);
      return built;
    },
    pullRequest: async (...asked) => {
      for (;;) {
        const facts = await host.pullRequest(...asked);
        if (facts === "NOT_FOUND" || facts.mergeability !== "IN_PROGRESS") return facts;
        await sleep(10);
      }
    },
    repeatChecks: async (repo, run, repeat, contexts) => {
      const before = twin.counts.of(RERUN);
      await host.repeatChecks(repo, run, repeat, contexts);
      if (twin.counts.of(RERUN) > before) await check(heads.get(run) ?? "", repeat + 1, contexts);
    },
  };
}

let tables: Tables;
beforeAll(async () => {
  tables = await sharedTable();
});

codeHostConformance("GitHub", async (): Promise<HostFixture> => {
  const folder = aFolder();
  const twin = await startGitHubTwin({ folder });
  await twin.addRepository(NAME, { files: {} });
  const installation = await twin.installation("acme");
  const client = createClient({ ...twin.app, api: twin.url }, systemClock);
  const memory = githubMemory(await tables.another(), ORG, systemClock);
  const installationOf = async () => installation;
  const check = playCi(twin);
  const host = createGitHubHost({ org: ORG, host: "github.com", client, memory, installationOf });
  const git = (...args: readonly string[]) => twin.git(NAME, ...args);
  const headOf = (prNumber: number): string => `pr-${prNumber}`;
  const moveTo = async (branch: string, sha: string): Promise<void> => {
    await git("update-ref", `refs/heads/${branch}`, sha);
    await twin.pushed(NAME);
  };
  const isOpened = (prNumber: number): boolean => twin.pulls(NAME).some((pull) => pull.number === prNumber);
  return {
    host: answering(host, twin, check),
    makesCommits: true,
    awaitsWhatIsMissing: true,
    repo: REPO,
    push: async (branch, files, message = "By hand") => {
      const isNew = !(await twin.branches(NAME)).includes(branch);
      return commitSha(await twin.push(NAME, branch, { files, message, ...(isNew ? { on: "refs/heads/main" } : {}) }));
    },
    openPullRequest: async (prNumber, on, files, title) => {
      const isThere = isOpened(prNumber);
      // A closed pull request does not follow its branch.
      if (isThere) await twin.editPullRequest(NAME, prNumber, { title, state: "open" });
      const head = await twin.push(NAME, headOf(prNumber), { files, message: title, on });
      if (!isThere && (await twin.openPullRequest(NAME, { head: headOf(prNumber), base: "main", title })) !== prNumber)
        throw new Error(`the next pull request is not #${prNumber}`);
      return commitSha(head);
    },
    updatePullRequest: async (prNumber, on, from, files) => {
      const made = await twin.push(NAME, "scratch", { files, on });
      const tree = await git("rev-parse", `${made}^{tree}`);
      const merged = await git(...HAND, "commit-tree", "-p", on, "-p", from, "-m", "Update", tree);
      await moveTo(headOf(prNumber), merged);
      return commitSha(merged);
    },
    proveHead: async (prNumber) => check(twin.pull(NAME, prNumber).head.sha, 1),
    closePullRequest: (prNumber) => twin.closePullRequest(NAME, prNumber),
    draftPullRequest: (prNumber) => twin.editPullRequest(NAME, prNumber, { draft: true }),
    retargetPullRequest: (prNumber, base) => twin.editPullRequest(NAME, prNumber, { base }),
    removeBranch: (branch) => twin.deleteBranch(NAME, branch),
    mergeByHand: async (prNumber, branch) => {
      const { sha } = twin.pull(NAME, prNumber).head;
      const tree = await git("merge-tree", "--write-tree", branch, sha);
      const merged = await git(...HAND, "commit-tree", "-p", branch, "-p", sha, "-m", "By hand", tree);
      await moveTo(branch, merged);
      return commitSha(merged);
    },
    branchExists: async (branch) => (await twin.branches(NAME)).includes(branch),
    filesAt: async (branch) => {
      const paths = (await git("ls-tree", "-r", "--name-only", `refs/heads/${branch}`)).split("\n").filter(Boolean);
      const shown = paths.filter((path) => path !== ".mainline.yaml");
      const read = async (path: string) => [path, `${await git("show", `refs/heads/${branch}:${path}`)}\n`] as const;
      return Object.fromEntries(await Promise.all(shown.map(read)));
    },
    checks: (checks, targets) => ({
      ".mainline.yaml": JSON.stringify({ checks, required_statuses: Object.keys(checks), targets }),
    }),
    dispose: async () => {
      await twin.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
