/** A pull request in GitHub's sizes. */
import { mergeableState } from "../content/rules.ts";
import { countBetween } from "../content/commits.ts";
import type { Git } from "../git.ts";
import type { Shape } from "../shapes/published.ts";
import type { Pull, Repository, World } from "../world.ts";
import { instant, instantOr, nodeId, user } from "./basics.ts";
import { api, html, repository } from "./repository.ts";

export const label = (world: World, repo: Repository, name: string): Shape<"label"> & { description: string } => {
  const found = repo.labels.get(name.toLowerCase());
  const shown = found?.name ?? name;
  return {
    id: found?.id ?? 0,
    node_id: nodeId("Label", found?.id ?? 0),
    url: api(world, repo, `/labels/${encodeURIComponent(shown)}`),
    name: shown,
    color: found?.color ?? "ededed",
    default: false,
    description: found?.description ?? "",
  };
};

const side = (world: World, repo: Repository, ref: string, sha: string) => ({
  label: `${repo.owner.login}:${ref}`,
  ref,
  sha,
  user: user(world, repo.owner),
  repo: repository(world, repo),
});

const associationOf = (repo: Repository, pull: Pull): Shape<"author-association"> => {
  if (pull.author.login === repo.owner.login) return "OWNER";
  return repo.roles.has(pull.author.login.toLowerCase()) ? "MEMBER" : "NONE";
};

export function simplePull(world: World, repo: Repository, pull: Pull): Shape<"pull-request-simple"> {
  const url = api(world, repo, `/pulls/${pull.number}`);
  const issue = api(world, repo, `/issues/${pull.number}`);
  const page = html(world, repo, `/pull/${pull.number}`);
  const statuses = api(world, repo, `/statuses/${pull.head.sha}`);
  const test = pull.mergeability.kind === "KNOWN" ? pull.mergeability.mergeCommit : null;
  return {
    url,
    id: pull.id,
    node_id: nodeId("PullRequest", pull.id),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issue,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: api(world, repo, "/pulls/comments{/number}"),
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    number: pull.number,
    state: pull.state,
    locked: false,
    active_lock_reason: null,
    title: pull.title,
    user: user(world, pull.author),
    body: pull.body,
    labels: pull.labels.map((name) => label(world, repo, name)),
    milestone: null,
    created_at: instant(pull.createdAt),
    updated_at: instant(pull.updatedAt),
    closed_at: instantOr(pull.closedAt),
    merged_at: instantOr(pull.merged?.at ?? null),
    merge_commit_sha: pull.merged?.commit ?? test,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    head: side(world, pull.head.repo, pull.head.ref, pull.head.sha),
    base: side(world, repo, pull.base.ref, pull.base.sha),
    _links: {
      self: { href: url },
      html: { href: page },
      issue: { href: issue },
      comments: { href: `${issue}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: api(world, repo, "/pulls/comments{/number}") },
      commits: { href: `${url}/commits` },
      statuses: { href: statuses },
    },
    author_association: associationOf(repo, pull),
    auto_merge: null,
    draft: pull.draft,
  };
}

export async function fullPull(world: World, repo: Repository, pull: Pull): Promise<Shape<"pull-request">> {
  const known = pull.mergeability.kind === "KNOWN" && pull.state === "open" ? pull.mergeability : null;
  return {
    ...simplePull(world, repo, pull),
    user: user(world, pull.author),
    head: side(world, pull.head.repo, pull.head.ref, pull.head.sha),
    base: side(world, repo, pull.base.ref, pull.base.sha),
    state: pull.state,
    merged: pull.merged !== null,
    mergeable: known === null ? null : known.mergeCommit !== null,
    rebaseable: known?.rebaseable ?? null,
    mergeable_state: await mergeableState(world, repo, pull),
    merged_by: pull.merged === null ? null : user(world, pull.merged.by),
    comments: repo.comments.filter((one) => one.number === pull.number).length,
    review_comments: 0,
    maintainer_can_modify: pull.head.repo !== repo,
    ...(await size(repo.git, pull)),
  };
}

type Size = { commits: number; additions: number; deletions: number; changed_files: number };
const sizes = new WeakMap<Git, Map<string, Size>>();

/** Kept by the two commits it follows from: every answer and every webhook tells it. */
async function size(git: Git, pull: Pull): Promise<Size> {
  const held = sizes.get(git) ?? new Map<string, Size>();
  sizes.set(git, held);
  const key = `${pull.base.sha}...${pull.head.sha}`;
  const found = held.get(key);
  if (found !== undefined) return found;
  const [count, stat] = await Promise.all([
    countBetween(git, pull.base.sha, pull.head.sha),
    git.must(["diff", "--shortstat", key]),
  ]);
  const number = (pattern: RegExp): number => Number(pattern.exec(stat)?.[1] ?? 0);
  const made: Size = {
    commits: count,
    additions: number(/(\d+) insertion/u),
    deletions: number(/(\d+) deletion/u),
    changed_files: number(/(\d+) file/u),
  };
  held.set(key, made);
  return made;
}

export function minimalPull(world: World, repo: Repository, pull: Pull): Shape<"pull-request-minimal"> {
  const of = (one: Repository) => ({ id: one.id, url: api(world, one), name: one.name });
  return {
    id: pull.id,
    number: pull.number,
    url: api(world, repo, `/pulls/${pull.number}`),
    head: { ref: pull.head.ref, sha: pull.head.sha, repo: of(pull.head.repo) },
    base: { ref: pull.base.ref, sha: pull.base.sha, repo: of(repo) },
  };
}

/** Checks name the pull requests of their own repository, and none of a fork. */
export const pullsOfCommit = (world: World, repo: Repository, sha: string): Shape<"pull-request-minimal">[] =>
  [...repo.pulls.values()]
    .filter((pull) => pull.state === "open" && pull.head.sha === sha && pull.head.repo === repo)
    .map((pull) => minimalPull(world, repo, pull));
