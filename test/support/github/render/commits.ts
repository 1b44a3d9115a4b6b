/** Commits in GitHub's sizes. */
import type { Commit } from "../content/commits.ts";
import type { Shape } from "../shapes/published.ts";
import type { Account, Repository, World } from "../world.ts";
import { nodeId, user } from "./basics.ts";
import { api, html } from "./repository.ts";

const UNSIGNED = { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null } as const;

/** People are known by the address that the twin gives them. */
function known(world: World, email: string): Account | undefined {
  const [, login] = /^(?:\d+\+)?([^@]+)@users\.noreply\.github\.com$/u.exec(email) ?? [];
  return login === undefined ? undefined : world.accounts.get(login.toLowerCase());
}

export const emailOf = (account: Account): string => `${account.id}+${account.login}@users.noreply.github.com`;

export function commitShape(world: World, repo: Repository, one: Commit): Shape<"commit"> {
  const url = api(world, repo, `/commits/${one.sha}`);
  const [author, committer] = [one.author, one.committer].map((who) => known(world, who.email));
  return {
    sha: one.sha,
    node_id: nodeId("Commit", one.sha),
    url,
    html_url: html(world, repo, `/commit/${one.sha}`),
    comments_url: `${url}/comments`,
    commit: {
      url: api(world, repo, `/git/commits/${one.sha}`),
      author: one.author,
      committer: one.committer,
      message: one.message,
      comment_count: 0,
      tree: { sha: one.tree, url: api(world, repo, `/git/trees/${one.tree}`) },
      verification: UNSIGNED,
    },
    author: author === undefined ? null : user(world, author),
    committer: committer === undefined ? null : user(world, committer),
    parents: one.parents.map((sha) => ({
      sha,
      url: api(world, repo, `/commits/${sha}`),
      html_url: html(world, repo, `/commit/${sha}`),
    })),
  };
}

export function gitCommitShape(world: World, repo: Repository, one: Commit): Shape<"git-commit"> {
  return {
    sha: one.sha,
    node_id: nodeId("Commit", one.sha),
    url: api(world, repo, `/git/commits/${one.sha}`),
    html_url: html(world, repo, `/commit/${one.sha}`),
    author: one.author,
    committer: one.committer,
    message: one.message,
    tree: { sha: one.tree, url: api(world, repo, `/git/trees/${one.tree}`) },
    parents: one.parents.map((sha) => ({
      sha,
      url: api(world, repo, `/git/commits/${sha}`),
      html_url: html(world, repo, `/commit/${sha}`),
    })),
    verification: UNSIGNED,
  };
}

export const simpleCommit = (one: Commit): Shape<"simple-commit"> => ({
  id: one.sha,
  tree_id: one.tree,
  message: one.message,
  timestamp: one.committer.date,
  author: { name: one.author.name, email: one.author.email },
  committer: { name: one.committer.name, email: one.committer.email },
});

export const pushedCommit = (world: World, repo: Repository, one: Commit) => ({
  ...simpleCommit(one),
  distinct: true,
  url: html(world, repo, `/commit/${one.sha}`),
  added: [],
  removed: [],
  modified: [],
});
