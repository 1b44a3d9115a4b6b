/** Commits as git knows them. */
import type { Git } from "../git.ts";
import { readObject, simplyMergedTree, writeObject } from "../objects.ts";
import { readRefs } from "./refs.ts";
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

const FULL = /^[0-9a-f]{40}$/u;
const SIGNATURE = /^(.*?) ?<([^<>]*)> (\d+) ([+-])(\d\d)(\d\d)$/u;

/** Undefined where only git can say: it is packed, or somebody wrote more into it than this twin reads. */
function loose(git: Git, sha: string): Commit | undefined {
  const held = knownIn(git).commits.get(sha);
  if (held !== undefined || !FULL.test(sha)) return held;
  const found = readObject(git.dir, sha);
  if (found?.kind !== "commit") return undefined;
  const text = found.bytes.toString();
  const end = text.indexOf("\n\n");
  const lines = text.slice(0, end).split("\n");
  const of = (name: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [tree, author, committer] = [of("tree")[0], signature(of("author")[0]), signature(of("committer")[0])];
  const parents = of("parent");
  const isPlain = lines.length === parents.length + 3 && end !== -1;
  if (!isPlain || tree === undefined || author === undefined || committer === undefined) return undefined;
  const made = { sha, tree, parents, author, committer, message: text.slice(end + 2).trimEnd() };
  knownIn(git).commits.set(sha, made);
  return made;
}

function signature(line: string | undefined): Signature | undefined {
  const [, name, email, seconds] = SIGNATURE.exec(line ?? "") ?? [];
  if (name === undefined || email === undefined || seconds === undefined) return undefined;
  return { name, email, date: utc(new Date(Number(seconds) * 1000).toISOString()) };
}

const WALK_MOST = 300;

/** The commit and all before it. Undefined: they are many, or not all can be read here. */
function ancestry(git: Git, sha: string): ReadonlySet<string> | undefined {
  const seen = new Set([sha]);
  for (const one of seen) {
    const found = seen.size > WALK_MOST ? undefined : loose(git, one);
    if (found === undefined) return undefined;
    for (const parent of found.parents) seen.add(parent);
  }
  return seen;
}

/** Those of `younger` that `older` lacks, the youngest first, and where they begin: only where they are one line. */
function line(git: Git, older: string, younger: string): { own: readonly Commit[]; from: string } | undefined {
  const before = ancestry(git, older);
  if (before === undefined) return undefined;
  const own: Commit[] = [];
  let at = younger;
  while (!before.has(at) && own.length < WALK_MOST) {
    const found = loose(git, at);
    const [parent, ...more] = found?.parents ?? [];
    if (found === undefined || parent === undefined || more.length > 0) return undefined;
    own.push(found);
    at = parent;
  }
  return before.has(at) ? { own, from: at } : undefined;
}

/** What `git log --reverse` tells of a range, at most so many of it. */
export async function range(
  git: Git,
  older: string,
  younger: string,
  more: readonly string[] = [],
): Promise<readonly Commit[]> {
  return line(git, older, younger)?.own.toReversed() ?? log(git, ["--reverse", ...more, `${older}..${younger}`]);
}

export async function countBetween(git: Git, older: string, younger: string): Promise<number> {
  const [before, all] = [ancestry(git, older), ancestry(git, younger)];
  if (before !== undefined && all !== undefined) return [...all].filter((one) => !before.has(one)).length;
  return Number(await git.must(["rev-list", "--count", `${older}..${younger}`]));
}

/** Undefined: they have nothing in common. */
export async function mergeBase(git: Git, one: string, other: string): Promise<string | undefined> {
  const simple = line(git, one, other)?.from ?? line(git, other, one)?.from;
  if (simple !== undefined) return simple;
  const found = await git.run(["merge-base", one, other]);
  return found.code === 0 ? found.out.trim() : undefined;
}

export async function commit(git: Git, sha: string): Promise<Commit> {
  const held = loose(git, sha);
  if (held !== undefined) return held;
  const [found] = await log(git, ["-1", "--end-of-options", sha]);
  if (found === undefined) throw new Error(`no commit ${sha}`);
  return found;
}

/** The commit a name stands for: an object name, a branch, a tag, a full ref, or `heads/<branch>`. */
export async function resolve(git: Git, name: string): Promise<string | undefined> {
  if (name === "" || ZERO.test(name)) return undefined;
  if (loose(git, name) !== undefined) return name;
  if (!/^[0-9a-f]{7,64}$/u.test(name)) {
    const refs = readRefs(git.dir);
    const sha = refs.get(`refs/heads/${name}`) ?? refs.get(`refs/tags/${name}`) ?? refs.get(`refs/${name}`);
    if (sha !== undefined && loose(git, sha) !== undefined) return sha;
  }
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
  const seen = ancestry(git, younger);
  if (seen !== undefined && loose(git, older) !== undefined) {
    ancestors.set(key, seen.has(older));
    return seen.has(older);
  }
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

/** As `git commit-tree` writes it, with the message as it is. */
export async function writeCommit(git: Git, made: NewCommit): Promise<string> {
  const by = ({ name, email, date }: Signature): string => `${plain(name)} <${plain(email)}> ${stamp(date)}`;
  const head = [
    `tree ${made.tree}`,
    ...[...new Set(made.parents)].map((parent) => `parent ${parent}`),
    `author ${by(made.author)}`,
    `committer ${by(made.committer)}`,
  ];
  return writeObject(git.dir, "commit", `${head.join("\n")}\n\n${made.message}`);
}

/** Git leaves out what would end a name, and the marks around it. */
const plain = (text: string): string => text.replace(/[<>\n\0]/gu, "").replace(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/gu, "");

function stamp(date: string): string {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)$/u.exec(date) ?? [];
  const seconds = Math.floor(Date.parse(date) / 1000);
  if (Number.isNaN(seconds)) throw new Error(`not a date: ${date}`);
  return `${seconds} ${sign === undefined ? "+0000" : `${sign}${hours}${minutes}`}`;
}

/** The tree of merging two commits, or null where they conflict. */
export async function mergedTree(git: Git, ours: string, theirs: string): Promise<string | null> {
  const from = await mergeBase(git, ours, theirs);
  const trees = [from, ours, theirs].map((sha) => (sha === undefined ? undefined : loose(git, sha)?.tree));
  const [base, one, other] = trees;
  if (base !== undefined && one !== undefined && other !== undefined) {
    const simple = simplyMergedTree(git.dir, base, one, other);
    if (simple !== undefined) return simple;
  }
  const merged = await git.run(["merge-tree", "--write-tree", "--allow-unrelated-histories", ours, theirs]);
  if (merged.code > 1) throw new Error(`git merge-tree ${ours} ${theirs}: ${merged.err}`);
  return merged.code === 0 ? (merged.out.split("\n")[0]?.trim() ?? null) : null;
}
