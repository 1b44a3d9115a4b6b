import { rmSync } from "node:fs";
import { join } from "node:path";
import { createGitHost } from "../../shared/code-host/git/host.ts";
import { createLauncher } from "../../shared/code-host/git/launcher.ts";
import { readPull, writePull } from "../../shared/code-host/git/pulls.ts";
import { findSandbox } from "../../shared/code-host/git/sandbox.ts";
import { orgSlug, runId } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { aFolder, aRepository, config } from "../support/git-repository.ts";
import { codeHostConformance, ended, type HostFixture } from "./code-host.ts";

/** Of the worker: it ends with it. */
const launcher = createLauncher();

const COMMANDS = {
  pass: "true",
  fail: "exit 3",
  "fail once": 'test "$MAINLINE_ATTEMPT" = 2',
  hang: "sleep 1000",
} as const;

codeHostConformance("the git host", async (): Promise<HostFixture> => {
  const folder = aFolder();
  const repositories = join(folder, "repositories");
  const origin = aRepository(repositories);
  const host = await createGitHost({
    org: orgSlug("local"),
    host: "git.local",
    repositories,
    work: join(folder, "data"),
    news: { checksMoved: () => {}, refsMoved: () => {}, reported: async () => true },
    log: silentLog,
    clock: systemClock,
    sandbox: await findSandbox({ hide: [], log: silentLog }),
    launch: launcher.launch,
  });
  const pull = async (prNumber: number, change: object): Promise<void> =>
    writePull(origin.dir, prNumber, { ...(await readPull(origin.dir, prNumber)), ...change });
  return {
    host,
    repo: origin.key,
    push: async (branch, files, message = "By hand") => origin.commit(branch, { files, message }),
    openPullRequest: async (prNumber, on, files, message) => origin.pullRequest(prNumber, { on, files, message }),
    updatePullRequest: async (prNumber, on, from, files) =>
      origin.pullRequest(prNumber, { on, alsoOn: from, files, message: "Update" }),
    proveHead: async (prNumber) => {
      const head = origin.sha(`refs/pull/${prNumber}/head`);
      const run = runId(`head-of-${prNumber}`);
      const branch = `mainline/pr-${prNumber}/${run}`;
      const only = {
        base: head,
        changes: [],
        mergeMethod: "MERGE_COMMIT",
        required: [],
        targetBranch: "main",
      } as const;
      await host.buildRun({ run, repo: origin.key, branch, ...only });
      await ended({ host, repo: origin.key }, run);
    },
    closePullRequest: (prNumber) => pull(prNumber, { state: "closed" }),
    draftPullRequest: (prNumber) => pull(prNumber, { draft: true }),
    retargetPullRequest: (prNumber, base) => pull(prNumber, { base }),
    removeBranch: async (branch) => void origin.git("update-ref", "-d", `refs/heads/${branch}`),
    mergeByHand: async (prNumber, branch) => {
      const head = origin.sha(`refs/pull/${prNumber}/head`);
      const tree = origin.git("merge-tree", "--write-tree", branch, head);
      const who = ["-c", "user.name=Hand", "-c", "user.email=hand@example.com"];
      const sha = origin.git(...who, "commit-tree", "-p", branch, "-p", head, "-m", "By hand", tree);
      origin.git("update-ref", `refs/heads/${branch}`, sha);
      return origin.sha(`refs/heads/${branch}`);
    },
    branchExists: async (branch) => origin.git("for-each-ref", `refs/heads/${branch}`) !== "",
    filesAt: async (branch) => {
      const paths = origin.git("ls-tree", "-r", "--name-only", `refs/heads/${branch}`).split("\n");
      const shown = paths.filter((path) => path !== ".mainline.yaml");
      return Object.fromEntries(shown.map((path) => [path, `${origin.read(`refs/heads/${branch}`, path)}\n`]));
    },
    checks: (checks, targets) => {
      const commands = Object.entries(checks).map(([name, kind]) => [name, COMMANDS[kind]]);
      return config(Object.fromEntries(commands), undefined, targets);
    },
    dispose: async () => {
      await host.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
