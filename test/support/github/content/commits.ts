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

/** Oldest first where `--reverse` is among the arguments. */
export async function log(git: Git, args: readonly string[]): Promise<readonly Commit[]> {
  const out = await git.must(["log", `--format=${FORMAT}`, ...args]);
  return out
    .split("\u0001")
    .map((record) => record.replace(/^\n/u, ""))
    .filter((record) => record !== "")
    .map(parse);
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
  const [found] = await log(git, ["-1", "--end-of-options", sha]);
  if (found === undefined) throw new Error(`no commit ${sha}`);
  return found;
}

/** The commit a name stands for: an object name, a branch, a tag, a full ref, or `heads/<branch>`. */
export async function resolve(git: Git, name: string): Promise<string | undefined> {
  if (name === "" || ZERO.test(name)) return undefined;
  const names = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`, name];
  const isObject = /^[0-9a-f]{7,64}$/u.test(name);
  for (const one of isObject ? [name, ...names] : names) {
    const found = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${one}^{commit}`]);
    if (found.code === 0) return found.out.trim();
  }
  return undefined;
}

export const isAncestor = async (git: Git, older: string, younger: string): Promise<boolean> =>
  older === younger || (await git.run(["merge-base", "--is-ancestor", older, younger])).code === 0;

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
