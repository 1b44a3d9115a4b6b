/** Reads and moves refs of a repository. */
import { commitSha, type CommitSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { gitTrouble, mustGit } from "./git.ts";
import type { Repository } from "./repository.ts";

const CAP_BYTES = 128 * 1024 * 1024;

/** Object names by full ref name, for the refs under these prefixes (or equal to them). */
export async function readRefs(repo: Repository, prefixes: readonly string[]): Promise<ReadonlyMap<string, CommitSha>> {
  return parseRefs(await listRefs(repo, prefixes));
}

/** The same as text, to be compared cheaply with the last look. */
export const listRefs = (repo: Repository, prefixes: readonly string[]): Promise<string> =>
  mustGit(repo.refs, ["for-each-ref", "--format=%(objectname) %(refname)", ...prefixes], { capBytes: CAP_BYTES });

export function parseRefs(text: string): ReadonlyMap<string, CommitSha> {
  const refs = new Map<string, CommitSha>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    if (space > 0) refs.set(line.slice(space + 1), commitSha(line.slice(0, space)));
  }
  return refs;
}

export const readRef = async (repo: Repository, ref: string): Promise<CommitSha | undefined> =>
  (await readRefs(repo, [ref])).get(ref);

/** The branch that HEAD names, whether it exists or not. */
export async function defaultBranch(repo: Repository): Promise<string | undefined> {
  const answer = await repo.refs(["symbolic-ref", "--quiet", "HEAD"]);
  const ref = answer.out.toString("utf8").trim();
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}

/** Points a ref of our own at a commit, whatever it was before. */
export async function setRef(repo: Repository, ref: string, commit: CommitSha): Promise<void> {
  await mustGit(repo.refs, ["update-ref", "--no-deref", "--end-of-options", ref, commit]);
}

/** Removes a ref; a no-op when there is none. */
export async function dropRef(repo: Repository, ref: string): Promise<void> {
  const answer = await repo.refs(["update-ref", "--no-deref", "-d", "--end-of-options", ref]);
  if (answer.code !== 0 && (await readRef(repo, ref)) !== undefined)
    throw new HostUnavailable(gitTrouble(["update-ref"], answer));
}

/** Moves a ref only if it still points at `from`. False when it does not; throws when it could not be tried. */
export async function swapRef(repo: Repository, ref: string, to: CommitSha, from: CommitSha): Promise<boolean> {
  const answer = await repo.refs(["update-ref", "--no-deref", "--end-of-options", ref, to, from]);
  if (answer.code === 0) return true;
  if ((await readRef(repo, ref)) !== from) return false;
  throw new HostUnavailable(gitTrouble(["update-ref"], answer));
}
