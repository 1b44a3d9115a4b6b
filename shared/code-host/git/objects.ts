/** Reads and writes commits. Object names only, never names that git would have to look up. */
import { commitSha, type CommitSha, treeSha, type TreeSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { type Git, mustGit } from "./git.ts";
import { isObjectName, oneLine } from "./names.ts";

export type Person = { readonly name: string; readonly email: string };

export type Commit = {
  readonly tree: TreeSha;
  readonly parents: readonly CommitSha[];
  readonly author: Person;
  /** Seconds since 1970 and the offset, as git writes them: `1700000000 +0100`. */
  readonly authorDate: string;
  readonly subject: string;
  readonly message: string;
};

type Found = { readonly type: string; readonly body: Buffer };

/** What `cat-file --batch` says of each object asked for; undefined for what is missing or beyond the cap. */
export async function readObjects(
  git: Git,
  names: readonly string[],
  capBytes?: number,
): Promise<readonly (Found | undefined)[]> {
  const answer = await git(["cat-file", "--batch"], {
    input: names.map((name) => `${name}\n`).join(""),
    ...(capBytes === undefined ? {} : { capBytes }),
  });
  if (answer.code !== 0) throw new HostUnavailable(`git cat-file failed: ${answer.err.split("\n")[0] ?? ""}`);
  let at = 0;
  return names.map((name) => {
    const end = answer.out.indexOf(10, at);
    if (end < 0) return undefined;
    const header = answer.out.subarray(at, end).toString("utf8");
    at = end + 1;
    const [, type, size] = /^[0-9a-f]+ (\w+) (\d+)$/u.exec(header) ?? [];
    if (type === undefined || header.startsWith(`${name} `) !== isObjectName(name)) return undefined;
    const body = answer.out.subarray(at, at + Number(size));
    at += Number(size) + 1;
    return { type, body };
  });
}

/** Which of these names are commits here. Reads none of them: a commit may be of any size. */
export async function areCommits(git: Git, names: readonly CommitSha[]): Promise<readonly boolean[]> {
  const known = names.filter(isObjectName);
  const input = known.map((name) => `${name}\n`).join("");
  const text = await mustGit(git, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const commits = new Set(text.split("\n").flatMap((line) => (line.endsWith(" commit") ? [line.split(" ")[0]] : [])));
  return names.map((name) => commits.has(name));
}

/** Commits by name, as far as they fit into what is read at once; undefined for a name that is no commit here. */
export async function readCommits(git: Git, names: readonly CommitSha[]): Promise<readonly (Commit | undefined)[]> {
  const known = names.filter(isObjectName);
  const found = await readObjects(git, known);
  const byName = new Map(known.map((name, index) => [name, found[index]]));
  return names.map((name) => {
    const object = byName.get(name);
    return object?.type === "commit" ? parseCommit(object.body) : undefined;
  });
}

export async function readCommit(git: Git, name: CommitSha): Promise<Commit | undefined> {
  return (await readCommits(git, [name]))[0];
}

/** What every git takes. A date before 1970 or beyond all calendars can be pushed, and is no reason to fail. */
const DATE = /^(?:0|[1-9]\d{0,11}) [+-]\d{4}$/u;

export function parseCommit(raw: Buffer): Commit {
  const split = raw.indexOf("\n\n");
  const head = split < 0 ? raw : raw.subarray(0, split);
  const lines = head.toString("utf8").split("\n");
  const all = (key: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const encoding = all("encoding")[0];
  // Names and message share the encoding; only when one is declared is the header read again in it.
  const text = (bytes: Buffer): string => (encoding === undefined ? bytes.toString("utf8") : decode(bytes, encoding));
  const author = /^author (.*)<([^>]*)>(?: (.*))?$/mu.exec(text(head));
  const message = split < 0 ? "" : text(raw.subarray(split + 2));
  return {
    tree: treeSha(all("tree")[0] ?? ""),
    parents: all("parent").map(commitSha),
    author: { name: oneLine(author?.[1] ?? ""), email: oneLine(author?.[2] ?? "") },
    authorDate: DATE.test(author?.[3] ?? "") ? (author?.[3] ?? "") : "0 +0000",
    subject: oneLine(message.trimStart().split(/\n\s*\n/u, 1)[0] ?? ""),
    message,
  };
}

function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

export type NewCommit = {
  readonly tree: TreeSha;
  readonly parents: readonly CommitSha[];
  readonly author: Person;
  readonly authorDate: string;
  readonly committerDate: string;
  readonly message: string;
};

/** Who commits what this service builds. Fixed: the same content on the same parent has to be the same commit. */
const COMMITTER: Person = { name: "Mainline", email: "mainline@localhost" };

/** Git forbids these in a name, and an empty name; a PR must not fail for its author's spelling. */
const ident = ({ name, email }: Person): string =>
  `${oneLine(name).replaceAll(/[<>]/gu, "").trim() || "unknown"} <${oneLine(email).replaceAll(/[<>\s]/gu, "")}>`;

/** Written as bytes rather than by commit-tree: nothing of the environment or of git's own clean-up gets in. */
export async function writeCommit(git: Git, commit: NewCommit): Promise<CommitSha> {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${ident(commit.author)} ${commit.authorDate}`,
    `committer ${ident(COMMITTER)} ${commit.committerDate}`,
    "",
    `${commit.message.replaceAll("\0", "").trim()}\n`,
  ];
  const name = await mustGit(git, ["hash-object", "-t", "commit", "-w", "--stdin"], { input: lines.join("\n") });
  return commitSha(name.trim());
}

/** Commits that `to` contains and `from` does not, oldest first; undefined when one of them is not here. */
export async function commitsBetween(
  git: Git,
  from: CommitSha,
  to: CommitSha,
  options: readonly string[] = [],
): Promise<readonly CommitSha[] | undefined> {
  const args = ["rev-list", "--reverse", "--topo-order", ...options, "--end-of-options", to, `^${from}`];
  const answer = await git(args, { capBytes: 128 * 1024 * 1024 });
  if (answer.code !== 0 || answer.truncated) return undefined;
  return answer.out.toString("utf8").split("\n").filter(isObjectName).map(commitSha);
}

export async function isAncestor(git: Git, ancestor: CommitSha, of: CommitSha): Promise<boolean> {
  const answer = await git(["merge-base", "--is-ancestor", "--end-of-options", ancestor, of]);
  return answer.code === 0;
}
