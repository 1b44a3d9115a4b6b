/** A code host that has every pull request, builds at once, and passes the checks of the runs it is told to pass. */
import type { CodeHost } from "../../shared/code-host/port.ts";
import { commitSha, type RunId, treeSha } from "../../shared/kernel/ids.ts";
import type { PullRequestFacts, Tip } from "../../shared/queue/engine/types.ts";

/** As long as titles get: what it costs to store one depends on it. */
export const TITLE =
  "Keep the connection pool from handing out a socket that its peer has closed while it was idle (#1234)".slice(0, 100);
const CHECK = "unit";

/** Forty hex digits that are different for different texts, as object names are. */
const objectName = (text: string): string => Buffer.from(text.padEnd(20, ".")).toString("hex").slice(-40);

export const factsOf = (number: number, baseBranch: string): PullRequestFacts => ({
  number,
  state: "OPEN",
  draft: false,
  title: TITLE,
  url: `https://git.local/acme/app/pull/${number}`,
  author: { name: "Ann Example", email: "ann@example.org" },
  headSha: commitSha(objectName(`head-${number}`)),
  headBranch: `ann/change-${number}`,
  baseBranch,
  fromFork: false,
  mergeability: "MERGEABLE",
  judgedOn: null,
  obstacle: null,
});

const tipAt = (sha: string): Tip => ({
  sha: commitSha(sha),
  tree: treeSha(objectName(`tree-${sha.slice(0, 12)}`)),
  required: { source: "CONFIG_FILE", statuses: [CHECK] },
  configProblem: null,
});

export type ScriptedHost = CodeHost & { readonly passes: (run: RunId) => void };

export function scriptedHost(): ScriptedHost {
  const passed = new Set<RunId>();
  const tips = new Map<string, Tip>();
  const tipOf = (branch: string): Tip => tips.get(branch) ?? tipAt(objectName(`base-${branch}`));
  return {
    passes: (run) => passed.add(run),
    pullRequest: async (_repo, number, branch) => factsOf(number, branch),
    tip: async (_repo, branch) => ({ tip: tipOf(branch), reached: [] }),
    impactedTargets: async () => "ALL",
    buildRun: async ({ run }) => ({
      ok: true,
      value: { commit: commitSha(objectName(`commit-${run}`)), tree: treeSha(objectName(`tree-${run}`)) },
    }),
    repeatChecks: async () => {},
    statuses: async (_repo, run) => ({
      statuses: [{ context: CHECK, state: passed.has(run) ? "SUCCESS" : "PENDING", url: null, description: null }],
      complete: passed.has(run),
      repeats: 0,
      broken: null,
    }),
    closeRun: async () => {},
    land: async ({ targetBranch, commit, tree }) => {
      const tip = { ...tipAt(commit), tree };
      tips.set(targetBranch, tip);
      return { ok: true, value: { tip, trees: "EQUAL" } };
    },
  };
}
