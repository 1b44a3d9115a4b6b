/** What happened, as webhooks tell it. */
import { type Commit, commit, isAncestor, range } from "./content/commits.ts";
import type { Git } from "./git.ts";
import type { Moved } from "./content/notice.ts";
import { instant, installation, nodeId, user } from "./render/basics.ts";
import { hookedRun, hookedSuite } from "./render/checks.ts";
import { commitShape, emailOf, pushedCommit } from "./render/commits.ts";
import { issueShape } from "./render/issue.ts";
import { fullPull, label, simplePull } from "./render/pull.ts";
import { api, hookedRepository, html } from "./render/repository.ts";
import type { Shape } from "./shapes/published.ts";
import {
  type Account,
  type CheckRun,
  type Comment,
  fullName,
  type Installation,
  type Pull,
  type Repository,
  type Review,
  type Status,
  type Suite,
  type World,
} from "./world.ts";

const NONE = "0".repeat(40);
const COMMITS_MOST = 2_048;

const pushedSince = async (git: Git, before: string | null, after: string): Promise<readonly Commit[]> =>
  before === null
    ? [await commit(git, after)]
    : (await range(git, before, after, [`--max-count=${COMMITS_MOST}`])).slice(-COMMITS_MOST);

export async function emitPush(world: World, repo: Repository, moved: Moved, sender: Account): Promise<void> {
  const { before, after, ref } = moved;
  const commits = after === null ? [] : await pushedSince(repo.git, before, after);
  const forced = before !== null && after !== null && !(await isAncestor(repo.git, before, after));
  const head = after === null ? null : pushedCommit(world, repo, await commit(repo.git, after));
  world.emit(
    "push",
    null,
    repo,
    {
      ref,
      before: before ?? NONE,
      after: after ?? NONE,
      base_ref: null,
      created: before === null,
      deleted: after === null,
      forced,
      compare: html(world, repo, `/compare/${(before ?? NONE).slice(0, 12)}...${(after ?? NONE).slice(0, 12)}`),
      commits: commits.map((one) => pushedCommit(world, repo, one)),
      head_commit: head,
      pusher: { name: sender.login, email: emailOf(sender) },
      repository: inPushes(world, repo),
    },
    sender,
  );
}

/** In a push instants are seconds, the owner has a name and an address, and some older fields live on. */
function inPushes(world: World, repo: Repository): object {
  const epoch = Math.floor(repo.createdAt / 1000);
  return {
    ...hookedRepository(world, repo),
    owner: { ...user(world, repo.owner), name: repo.owner.login, email: emailOf(repo.owner) },
    created_at: epoch,
    pushed_at: epoch,
    stargazers: 0,
    master_branch: repo.defaultBranch,
  };
}

export async function emitPull(
  world: World,
  repo: Repository,
  action: string,
  pull: Pull,
  sender: Account,
  more: object = {},
): Promise<void> {
  const pull_request = await fullPull(world, repo, pull);
  world.emit("pull_request", action, repo, { number: pull.number, pull_request, ...more }, sender);
}

export const emitLabel = (
  world: World,
  repo: Repository,
  action: "labeled" | "unlabeled",
  pull: Pull,
  name: string,
  sender: Account,
): Promise<void> => emitPull(world, repo, action, pull, sender, { label: label(world, repo, name) });

export async function emitSuite(
  world: World,
  repo: Repository,
  action: "requested" | "completed" | "rerequested",
  suite: Suite,
  sender: Account,
): Promise<void> {
  world.emit("check_suite", action, repo, { check_suite: await hookedSuite(world, repo, suite) }, sender);
}

export function emitRun(
  world: World,
  repo: Repository,
  action: "created" | "completed" | "rerequested",
  run: CheckRun,
  sender: Account,
): void {
  world.emit("check_run", action, repo, { check_run: hookedRun(world, repo, run) }, sender);
}

export async function emitStatus(world: World, repo: Repository, status: Status, sender: Account): Promise<void> {
  const branches = [...repo.known].filter(([ref, sha]) => ref.startsWith("refs/heads/") && sha === status.sha);
  world.emit(
    "status",
    null,
    repo,
    {
      id: status.id,
      sha: status.sha,
      name: fullName(repo),
      target_url: status.targetUrl,
      avatar_url: `${world.url}/avatars/u/${status.creator.id}`,
      context: status.context,
      description: status.description,
      state: status.state,
      commit: asStatusesShowIt(commitShape(world, repo, await commit(repo.git, status.sha))),
      branches: branches.map(([ref, sha]) => ({
        name: ref.slice("refs/heads/".length),
        commit: { sha, url: api(world, repo, `/commits/${sha}`) },
        protected: repo.protections.has(ref.slice("refs/heads/".length)),
      })),
      created_at: instant(status.at),
      updated_at: instant(status.at),
    },
    sender,
  );
}

/** An older form of accounts than everywhere else. */
const asStatusesShowIt = (shown: Shape<"commit">): object => ({
  ...shown,
  author: shown.author === null ? null : { ...shown.author, user_view_type: undefined },
  committer: shown.committer === null ? null : { ...shown.committer, user_view_type: undefined },
});

export const emitReview = (
  world: World,
  repo: Repository,
  action: "submitted" | "dismissed",
  pull: Pull,
  review: Review,
): void => {
  const page = html(world, repo, `/pull/${pull.number}`);
  const pull_request_url = api(world, repo, `/pulls/${pull.number}`);
  world.emit(
    "pull_request_review",
    action,
    repo,
    {
      review: {
        id: review.id,
        node_id: nodeId("PullRequestReview", review.id),
        user: user(world, review.user),
        body: review.body === "" ? null : review.body,
        commit_id: review.commit,
        submitted_at: instant(review.at),
        updated_at: instant(review.at),
        state: review.state.toLowerCase(),
        html_url: `${page}#pullrequestreview-${review.id}`,
        pull_request_url,
        author_association: "MEMBER",
        _links: {
          html: { href: `${page}#pullrequestreview-${review.id}` },
          pull_request: { href: pull_request_url },
        },
      },
      pull_request: simplePull(world, repo, pull),
    },
    review.user,
  );
};

export const emitInstallation = (world: World, action: string, one: Installation, more: object = {}): void =>
  world.emit("installation", action, null, { installation: installation(world, one), ...more }, one.account);

export const named = (repo: Repository) => ({
  id: repo.id,
  node_id: nodeId("Repository", repo.id),
  name: repo.name,
  full_name: fullName(repo),
  private: false,
});

export const emitInstalled = (
  world: World,
  action: "added" | "removed",
  one: Installation,
  repositories: readonly Repository[],
): void => {
  world.emit(
    "installation_repositories",
    action,
    null,
    {
      installation: installation(world, one),
      repository_selection: "selected",
      repositories_added: action === "added" ? repositories.map(named) : [],
      repositories_removed: action === "removed" ? repositories.map(named) : [],
      requester: null,
    },
    one.account,
  );
};

export const emitComment = (
  world: World,
  repo: Repository,
  action: "created" | "edited" | "deleted",
  pull: Pull,
  shown: object,
  comment: Comment,
  more: object = {},
): void =>
  world.emit(
    "issue_comment",
    action,
    repo,
    { issue: issueShape(world, repo, pull), comment: shown, ...more },
    comment.user,
  );
