/** Branches and pull requests that are this program's own, made by the API and removed again. */
import type { Ask } from "../../shared/code-host/github/client.ts";
import { type CommitSha, commitSha } from "../../shared/kernel/ids.ts";

/** Of the one job of the workflow, and so of its check. */
export const CHECK = "mainline-smoke";

const WORKFLOW = `name: ${CHECK}
on: pull_request
permissions: {}
jobs:
  ${CHECK}:
    runs-on: ubuntu-latest
    steps:
      - run: "true"
`;

export type Repository = { readonly ask: Ask; readonly at: { readonly owner: string; readonly repo: string } };
export type PullRequest = { readonly number: number; readonly headSha: CommitSha; readonly branch: string };

export type Scratch = {
  /** The branch that pull requests go into: the default branch, and the workflow. */
  readonly base: string;
  readonly open: () => Promise<PullRequest>;
  readonly tip: () => Promise<CommitSha>;
  /** Answers how many branches there were. */
  readonly remove: () => Promise<number>;
};

export function scratchOf(
  { ask, at }: Repository,
  name: string,
): Scratch & { readonly make: () => Promise<CommitSha> } {
  const made: string[] = [];
  const tipOf = async (branch: string): Promise<CommitSha> => {
    const { data } = await ask("GET /repos/{owner}/{repo}/git/ref/{ref}", { ...at, ref: `heads/${branch}` });
    return commitSha(data.object.sha);
  };
  const branchWith = async (branch: string, onto: CommitSha, path: string, content: string): Promise<CommitSha> => {
    const parent = await ask("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", { ...at, commit_sha: onto });
    const entry = { path, mode: "100644", type: "blob", content } as const;
    const base_tree = parent.data.tree.sha;
    const tree = await ask("POST /repos/{owner}/{repo}/git/trees", { ...at, base_tree, tree: [entry] });
    const message = `${path}, for a smoke test`;
    const commit = await ask("POST /repos/{owner}/{repo}/git/commits", {
      ...at,
      message,
      tree: tree.data.sha,
      parents: [onto],
    });
    const { sha } = commit.data;
    await ask("POST /repos/{owner}/{repo}/git/refs", { ...at, ref: `refs/heads/${branch}`, sha });
    made.push(branch);
    return commitSha(sha);
  };
  const base = name;
  let changes = 0;
  return {
    base,
    tip: () => tipOf(base),
    make: async () => {
      const { data } = await ask("GET /repos/{owner}/{repo}", at);
      return branchWith(base, await tipOf(data.default_branch), `.github/workflows/${CHECK}.yml`, WORKFLOW);
    },
    open: async () => {
      changes += 1;
      const branch = `${name}-change-${changes}`;
      const headSha = await branchWith(branch, await tipOf(base), `${branch}.txt`, "A change that changes nothing.\n");
      const asked = { ...at, head: branch, base, title: `Smoke test: change ${changes}` };
      const { data } = await ask("POST /repos/{owner}/{repo}/pulls", asked);
      return { number: data.number, headSha, branch };
    },
    remove: async () => {
      // A pull request whose branch goes is closed with it.
      for (const branch of made.toReversed())
        await ask("DELETE /repos/{owner}/{repo}/git/refs/{ref}", { ...at, ref: `heads/${branch}` });
      return made.length;
    },
  };
}
