/** Opening and changing pull requests, by people and by the App alike. */
import { setRef } from "./refs.ts";
import { emitPull } from "../events.ts";
import { invalid, unprocessable } from "../http/call.ts";
import { type Account, findRepository, type Pull, type Repository, type World } from "../world.ts";
import { isAncestor } from "./commits.ts";
import { fetchHead } from "./notice.ts";
import { tipOf } from "./rules.ts";

export type NewPull = {
  /** A branch, or `owner:branch` of a fork. */
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string | null;
  readonly draft: boolean;
  readonly author: Account;
};

/** Throws as GitHub refuses. Call it in the repository's turn. */
export async function openPull(world: World, repo: Repository, wanted: NewPull): Promise<Pull> {
  const base = tipOf(repo, wanted.base);
  if (base === undefined) throw invalid("PullRequest", "invalid", "base is invalid", "base");
  const from = headOf(world, repo, wanted.head);
  const number = repo.nextNumber;
  const sha = await fetched(repo, from, number);
  if (sha === undefined) throw invalid("PullRequest", "invalid", "head is invalid", "head");
  await requireNew(repo, wanted, from, base, sha);
  repo.nextNumber += 1;
  const pull: Pull = {
    id: world.nextId(),
    number,
    title: wanted.title,
    body: wanted.body,
    author: wanted.author,
    draft: wanted.draft,
    state: "open",
    closedAt: null,
    merged: null,
    mergeability: { kind: "UNKNOWN" },
    labels: [],
    reviews: [],
    head: {
      repo: from.repo,
      ref: from.ref,
      sha,
    },
    base: {
      ref: wanted.base,
      sha: base,
    },
    createdAt: world.now(),
    updatedAt: world.now(),
  };
  repo.pulls.set(number, pull);
  await setRef(repo.git, `refs/pull/${number}/head`, sha);
  await emitPull(world, repo, "opened", pull, wanted.author);
  return pull;
}

type Side = { readonly repo: Repository; readonly ref: string };

function headOf(world: World, repo: Repository, name: string): Side {
  const [owner = "", ...rest] = name.split(":");
  const ref = rest.join(":");
  if (ref === "" || owner === repo.owner.login) return { repo, ref: ref === "" ? name : ref };
  const fork = world.repositories.find((one) => one.parent === repo && one.owner.login === owner);
  return { repo: fork ?? repo, ref: fork === undefined ? "" : ref };
}

async function fetched(repo: Repository, head: Side, number: number): Promise<string | undefined> {
  if (head.repo === repo) return tipOf(repo, head.ref);
  const found = await head.repo.git.run(["rev-parse", "--verify", "--quiet", `refs/heads/${head.ref}`]);
  if (found.code !== 0) return undefined;
  await fetchHead(repo, { number, head: { ...head, sha: "" } });
  return found.out.trim();
}

async function requireNew(repo: Repository, wanted: NewPull, from: Side, base: string, sha: string): Promise<void> {
  const same = [...repo.pulls.values()].some(
    (pull) =>
      pull.state === "open" &&
      pull.head.repo === from.repo &&
      pull.head.ref === from.ref &&
      pull.base.ref === wanted.base,
  );
  const name = `${from.repo.owner.login}:${from.ref}`;
  if (same) throw invalid("PullRequest", "custom", `A pull request already exists for ${name}.`);
  if (await isAncestor(repo.git, sha, base))
    throw invalid("PullRequest", "custom", `No commits between ${wanted.base} and ${from.ref}`);
}

export type PullChange = { title?: string; body?: string; base?: string; state?: "open" | "closed"; draft?: boolean };

export async function changePull(
  world: World,
  repo: Repository,
  pull: Pull,
  wanted: PullChange,
  sender: Account,
): Promise<void> {
  if (pull.merged !== null && wanted.state === "open") throw unprocessable("Cannot reopen a merged pull request.");
  const from = { title: pull.title, body: pull.body, base: pull.base };
  const changes = applyWords(repo, pull, wanted, from);
  pull.updatedAt = world.now();
  if (Object.keys(changes).length > 0) await emitPull(world, repo, "edited", pull, sender, { changes });
  if (wanted.draft !== undefined && wanted.draft !== pull.draft) {
    pull.draft = wanted.draft;
    await emitPull(world, repo, pull.draft ? "converted_to_draft" : "ready_for_review", pull, sender);
  }
  if (wanted.state === undefined || wanted.state === pull.state) return;
  pull.state = wanted.state;
  pull.closedAt = wanted.state === "closed" ? world.now() : null;
  pull.mergeability = { kind: "UNKNOWN" };
  await emitPull(world, repo, wanted.state === "closed" ? "closed" : "reopened", pull, sender);
}

type Words = Pick<Pull, "title" | "body" | "base">;

function applyWords(repo: Repository, pull: Pull, wanted: PullChange, from: Words): Record<string, object> {
  const changes: Record<string, object> = {};
  if (wanted.title !== undefined && wanted.title !== pull.title) {
    changes["title"] = { from: from.title };
    pull.title = wanted.title;
  }
  if (wanted.body !== undefined && wanted.body !== pull.body) {
    changes["body"] = { from: from.body ?? "" };
    pull.body = wanted.body;
  }
  if (wanted.base !== undefined && wanted.base !== pull.base.ref) {
    const sha = tipOf(repo, wanted.base);
    if (sha === undefined) throw invalid("PullRequest", "invalid", "Proposed base branch was not found", "base");
    changes["base"] = { ref: { from: from.base.ref }, sha: { from: from.base.sha } };
    pull.base = { ref: wanted.base, sha };
    pull.mergeability = { kind: "UNKNOWN" };
  }
  return changes;
}

export const requireRepository = (world: World, name: string): Repository => {
  const found = findRepository(world, name);
  if (found === undefined) throw new Error(`the twin has no repository ${name}: addRepository makes one`);
  return found;
};
