/** One repository, as an installation sees it. */
import { type CommitSha, commitSha, type RepoKey, treeSha, type TreeSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { Answered, type Ask } from "./client.ts";
import type { GitHubMemory } from "./port.ts";

export type Place = {
  readonly ask: Ask;
  /** For calls that people can do without: refused early (NotNow), so that enough is left for the others. */
  readonly spare: Ask;
  /** As people named it when they made the queue. */
  readonly key: RepoKey;
  /** As it is called now; a route's parameters. */
  readonly at: { readonly owner: string; readonly repo: string };
  readonly appId: number;
  readonly memory: GitHubMemory;
};

/** The answer, or undefined where GitHub has none of these statuses' things to answer with. */
export async function unless<T>(statuses: readonly number[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Answered && statuses.includes(error.status)) return undefined;
    throw error;
  }
}

/** What is missing in a repository that is missing itself says nothing: GitHub answers 404 for both. */
export async function requireRepository({ ask, at }: Place): Promise<void> {
  if ((await unless([404], () => ask("GET /repos/{owner}/{repo}", at))) === undefined)
    throw new HostUnavailable(`GitHub knows no repository ${at.owner}/${at.repo}, or does not let us see it`);
}

export async function branchSha({ ask, at }: Place, branch: string): Promise<CommitSha | undefined> {
  const found = await unless([404], () =>
    ask("GET /repos/{owner}/{repo}/git/ref/{ref}", { ...at, ref: `heads/${branch}` }),
  );
  return found === undefined ? undefined : commitSha(found.data.object.sha);
}

export type Commit = {
  readonly sha: CommitSha;
  readonly tree: TreeSha;
  readonly parents: readonly CommitSha[];
  readonly message: string;
};

export async function readCommit({ ask, at }: Place, name: string): Promise<Commit | undefined> {
  const found = await unless([404, 422], () =>
    ask("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", { ...at, commit_sha: name }),
  );
  if (found === undefined) return undefined;
  const { sha, tree, parents, message } = found.data;
  return {
    sha: commitSha(sha),
    tree: treeSha(tree.sha),
    parents: parents.map((one) => commitSha(one.sha)),
    message,
  };
}

const PAGE = 100;
const PAGES_MAX = 10;

type Compared = { readonly ahead: number; readonly behind: number; readonly mergeBase: CommitSha };

/** How `head` stands to `base`; undefined where one of them is not there, or they have nothing in common. */
export async function compare({ ask, at }: Place, base: string, head: string): Promise<Compared | undefined> {
  const found = await unless([404, 422], () =>
    ask("GET /repos/{owner}/{repo}/compare/{basehead}", { ...at, basehead: `${base}...${head}`, per_page: 1 }),
  );
  if (found === undefined) return undefined;
  const { ahead_by: ahead, behind_by: behind, merge_base_commit: mergeBase } = found.data;
  return { ahead, behind, mergeBase: commitSha(mergeBase.sha) };
}

/** Whether there are merges among the commits that `head` has and `base` has not; also where there are too many to tell. */
export async function hasMerges({ ask, at }: Place, base: string, head: string): Promise<boolean> {
  const { data } = await ask("GET /repos/{owner}/{repo}/compare/{basehead}", {
    ...at,
    basehead: `${base}...${head}`,
    per_page: PAGE,
  });
  return data.ahead_by > data.commits.length || data.commits.some((one) => one.parents.length > 1);
}

/** Commits that `head` has and `base` has not; undefined where they cannot be told, or are too many to tell. */
export async function commitsBetween(
  place: Place,
  base: string,
  head: string,
): Promise<readonly CommitSha[] | undefined> {
  const { ask, at } = place;
  const all: CommitSha[] = [];
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const asked = { ...at, basehead: `${base}...${head}`, per_page: PAGE, page };
    const found = await unless([404, 422], () => ask("GET /repos/{owner}/{repo}/compare/{basehead}", asked));
    if (found === undefined) return undefined;
    all.push(...found.data.commits.map((one) => commitSha(one.sha)));
    if (found.data.commits.length < PAGE) return all;
  }
  return undefined;
}

/** GitHub lists no more files of a comparison than this. */
const FILES_MAX = 300;

/** Paths that `head` changes since it left `base`, of a rename both; undefined where they cannot be told in full. */
export async function changedPaths(
  { ask, at }: Place,
  base: string,
  head: string,
): Promise<readonly string[] | undefined> {
  const asked = { ...at, basehead: `${base}...${head}`, per_page: 1 };
  const found = await unless([404, 422], () => ask("GET /repos/{owner}/{repo}/compare/{basehead}", asked));
  const files = found?.data.files;
  if (files === undefined || files.length >= FILES_MAX) return undefined;
  return files.flatMap((one) => [
    one.filename,
    ...(one.previous_filename === undefined ? [] : [one.previous_filename]),
  ]);
}

/** GitHub does not say where two commits conflict: what both change since they parted is as near as can be told. */
export async function pathsInBoth(place: Place, one: string, other: string): Promise<readonly string[]> {
  const [mine = [], theirs = []] = await Promise.all([
    changedPaths(place, other, one),
    changedPaths(place, one, other),
  ]);
  return mine.filter((path) => theirs.includes(path)).sort();
}
