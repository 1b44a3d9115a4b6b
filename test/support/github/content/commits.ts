/** Commits as git knows them. */
import type { Git } from "../git.ts";
import type { Signature } from "../world.ts";

export type Commit = {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
};

const FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01";
const ZERO = /^0+$/u;

/** GitHub tells instants in UTC. */
const utc = (date: string): string => new Date(date).toISOString().replace(".000Z", "Z");

/** What was once read of objects, which never change; a git process for each question is slow. */
type Known = { readonly commits: Map<string, Commit>; readonly ancestors: Map<string, boolean> };
const known = new WeakMap<Git, Known>();

function knownIn(git: Git): Known {
  const found = known.get(git) ?? { commits: new Map<string, Commit>(), ancestors: new Map<string, boolean>() };
  known.set(git, found);
  return found;
}

/** Oldest first where `--reverse` is among the arguments. */
export async function log(git: Git, args: readonly string[]): Promise<readonly Commit[]> {
  const out = await git.must(["log", `--format=${FORMAT}`, ...args]);
  const found = out
    .split("\u0001")
    .map((record) => record.replace(/^\n/u, ""))
    .filter((record) => record !== "")
    .map(parse);
  for (const one of found) knownIn(git).commits.set(one.sha, one);
  return found;
}

function parse(record: string): Commit {
  const [sha = "", tree = "", parents = "", an = "", ae = "", ad = "", cn = "", ce = "", cd = "", message = ""] =
    record.split("\0");
  return {
    sha,
    tree,
    parents: parents.split(" ").filter(Boolean),
    author: { name: an, email: ae, date: utc(ad) },
    committer: { name: cn, email: ce, date: utc(cd) },
    message: message.trimEnd(),
  };
}

export async function commit(git: Git, sha: string): Promise<Commit> {
  const held = knownIn(git).commits.get(sha);
  if (held !== undefined) return held;
  const [found] = await log(git, ["-1", "--end-of-options", sha]);
  if (found === undefined) throw new Error(`no commit ${sha}`);
  return found;
}

/** The commit a name stands for: an object name, a branch, a tag, a full ref, or `heads/<branch>`. */
export async function resolve(git: Git, name: string): Promise<string | undefined> {
  if (name === "" || ZERO.test(name)) return undefined;
  if (knownIn(git).commits.has(name)) return name;
  const names = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`, name];
  const isObject = /^[0-9a-f]{7,64}$/u.test(name);
  for (const one of isObject ? [name, ...names] : names) {
    const found = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${one}^{commit}`]);
    if (found.code === 0) return found.out.trim();
  }
  return undefined;
}

export async function isAncestor(git: Git, older: string, younger: string): Promise<boolean> {
  if (older === younger) return true;
  const { ancestors } = knownIn(git);
  const key = `${older} ${younger}`;
  const held = ancestors.get(key);
  if (held !== undefined) return held;
  const { code } = await git.run(["merge-base", "--is-ancestor", older, younger]);
  // Anything else says that an object is not there, which may change.
  if (code <= 1) ancestors.set(key, code === 0);
  return code === 0;
}

export type NewCommit = {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
};

export const writeCommit = (git: Git, made: NewCommit): Promise<string> =>
  git.must(["commit-tree", made.tree, ...made.parents.flatMap((parent) => ["-p", parent])], {
    input: made.message,
    env: {
      GIT_AUTHOR_NAME: made.author.name,
      GIT_AUTHOR_EMAIL: made.author.email,
      GIT_AUTHOR_DATE: made.author.date,
      GIT_COMMITTER_NAME: made.committer.name,
      GIT_COMMITTER_EMAIL: made.committer.email,
      GIT_COMMITTER_DATE: made.committer.date,
    },
  });

/** The tree of merging two commits, or null where they conflict. */
export async function mergedTree(git: Git, ours: string, theirs: string): Promise<string | null> {
  const merged = await git.run(["merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs]);
  if (merged.code > 1) throw new Error(`git merge-tree ${ours} ${theirs}: ${merged.err}`);
  return merged.code === 0 ? (merged.out.split("\n")[0]?.trim() ?? null) : null;
}
