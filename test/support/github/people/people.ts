/** What people do to branches and pull requests. */
import { readRefs, removeRef } from "../content/refs.ts";
import { addComment, editComment, removeComment } from "../content/comments.ts";
import { addLabels, removeLabel } from "../content/labels.ts";
import { notice } from "../content/notice.ts";
import { changePull, openPull, type PullChange, requireRepository } from "../content/pulls.ts";
import { emitReview } from "../events.ts";
import {
  accountOf,
  type Comment,
  fullName,
  findRepository,
  inTurn,
  type Pull,
  type Repository,
  type Review,
  type World,
} from "../world.ts";
import { addCommit, type Content } from "./commit.ts";
import { createRepository } from "./operator.ts";

export type NewPullRequest = {
  readonly head: string;
  readonly base: string;
  readonly title?: string;
  readonly body?: string;
  readonly author?: string;
  readonly draft?: boolean;
  /** The branch is in a fork: the author's own, made where there is none, or that of the account named. */
  readonly fork?: boolean | string;
  /** A commit with these files is pushed to the branch first, on top of the base where the branch is new. */
  readonly files?: Readonly<Record<string, string | null>>;
};

export type People = {
  readonly openPullRequest: (repository: string, wanted: NewPullRequest) => Promise<number>;
  readonly editPullRequest: (repository: string, number: number, wanted: PullChange, by?: string) => Promise<void>;
  readonly closePullRequest: (repository: string, number: number, by?: string) => Promise<void>;
  /** A commit on a branch, by plain git; a fork is named as a repository of its own. */
  readonly push: (repository: string, branch: string, content: Content) => Promise<string>;
  readonly deleteBranch: (repository: string, branch: string) => Promise<void>;
  readonly comment: (repository: string, number: number, by: string, body: string) => Promise<number>;
  readonly editComment: (repository: string, comment: number, body: string) => Promise<void>;
  readonly deleteComment: (repository: string, comment: number) => Promise<void>;
  readonly review: (repository: string, number: number, by: string, state: Review["state"]) => Promise<void>;
  readonly label: (repository: string, number: number, name: string, by?: string) => Promise<void>;
  readonly unlabel: (repository: string, number: number, name: string, by?: string) => Promise<void>;
};

export function createPeople(world: World): People {
  const repositoryOf = (name: string): Repository => requireRepository(world, name);
  const pullOf = (name: string, number: number): Pull => {
    const found = repositoryOf(name).pulls.get(number);
    if (found === undefined) throw new Error(`${name} has no pull request ${number}`);
    return found;
  };
  const by = (login = "somebody") => accountOf(world, login);
  const onComment = (name: string, id: number, work: (pull: Pull, comment: Comment) => void): Promise<void> =>
    inTurn(repositoryOf(name), async () => {
      const found = repositoryOf(name).comments.find((one) => one.id === id);
      if (found === undefined) throw new Error(`${name} has no comment ${id}`);
      work(pullOf(name, found.number), found);
      return Promise.resolve();
    });
  const change = (name: string, number: number, wanted: PullChange, login?: string): Promise<void> =>
    inTurn(repositoryOf(name), () => changePull(world, repositoryOf(name), pullOf(name, number), wanted, by(login)));
  return {
    openPullRequest: (name, wanted) => open(world, repositoryOf(name), wanted),
    editPullRequest: change,
    closePullRequest: (name, number, login) => change(name, number, { state: "closed" }, login),
    push: (name, branch, content) => push(world, repositoryOf(name), branch, content),
    deleteBranch: (name, branch) =>
      inTurn(repositoryOf(name), async () => {
        await removeRef(repositoryOf(name).git, `refs/heads/${branch}`);
        await notice(world, repositoryOf(name));
      }),
    comment: (name, number, login, body) =>
      inTurn(repositoryOf(name), async () => {
        const made = addComment(world, repositoryOf(name), pullOf(name, number), body, by(login));
        return Promise.resolve(made.id);
      }),
    editComment: (name, id, body) =>
      onComment(name, id, (pull, comment) => editComment(world, repositoryOf(name), pull, comment, body)),
    deleteComment: (name, id) =>
      onComment(name, id, (pull, comment) => removeComment(world, repositoryOf(name), pull, comment)),
    review: (name, number, login, state) =>
      inTurn(repositoryOf(name), () =>
        Promise.resolve(review(world, repositoryOf(name), pullOf(name, number), login, state)),
      ),
    label: (name, number, label, login) =>
      inTurn(repositoryOf(name), () => addLabels(world, repositoryOf(name), pullOf(name, number), [label], by(login))),
    unlabel: (name, number, label, login) =>
      inTurn(repositoryOf(name), async () => {
        await removeLabel(world, repositoryOf(name), pullOf(name, number), label, by(login));
      }),
  };
}

function review(world: World, repo: Repository, pull: Pull, login: string, state: Review["state"]): void {
  const one: Review = {
    id: world.nextId(),
    user: accountOf(world, login),
    state,
    body: "",
    commit: pull.head.sha,
    at: world.now(),
  };
  pull.reviews.push(one);
  emitReview(world, repo, state === "DISMISSED" ? "dismissed" : "submitted", pull, one);
}

/** A fork's pushes are noticed for the repository that it was made from. */
function push(world: World, repo: Repository, branch: string, content: Content): Promise<string> {
  const seen = repo.parent ?? repo;
  return inTurn(seen, async () => {
    const sha = await addCommit(world, repo, branch, content);
    await notice(world, seen, accountOf(world, content.author ?? "ada"));
    return sha;
  });
}

async function open(world: World, repo: Repository, wanted: NewPullRequest): Promise<number> {
  const { author = "ada", title = `Change ${wanted.head}`, fork = false } = wanted;
  const owner = typeof fork === "string" ? fork : author;
  const from = fork === false ? repo : await forkOf(world, repo, owner);
  if (wanted.files !== undefined) await pushFiles(world, from, wanted, wanted.files, author, title);
  return inTurn(repo, async () => {
    await notice(world, repo);
    const head = from === repo ? wanted.head : `${owner}:${wanted.head}`;
    const body = wanted.body ?? null;
    const by = accountOf(world, author);
    const pull = await openPull(world, repo, {
      head,
      base: wanted.base,
      title,
      body,
      draft: wanted.draft ?? false,
      author: by,
    });
    return pull.number;
  });
}

async function pushFiles(
  world: World,
  from: Repository,
  { head, base }: NewPullRequest,
  files: Readonly<Record<string, string | null>>,
  author: string,
  message: string,
): Promise<void> {
  const isThere = readRefs(from.git.dir).has(`refs/heads/${head}`);
  await push(world, from, head, { files, author, message, ...(isThere ? {} : { on: base }) });
}

/** Forks begin with all branches that there are. */
async function forkOf(world: World, repo: Repository, owner: string): Promise<Repository> {
  const name = `${owner}/${repo.name}`;
  const found = findRepository(world, name);
  const fork = found ?? (await createRepository(world, name, repo.defaultBranch, repo));
  if (fork.parent !== repo) throw new Error(`${name} is no fork of ${fullName(repo)}`);
  if (found === undefined) await fork.git.must(["fetch", "--quiet", repo.git.dir, "refs/heads/*:refs/heads/*"]);
  return fork;
}
