/**
 * Builds what a run tests on a branch of its own: a base with changes merged on top, in order. Whatever the queue's
 * merge method, GitHub is asked to merge: only the tree is evidence where it makes the commits itself as it lands.
 */
import * as z from "zod";
import { type CommitSha, commitSha, type TreeSha, treeSha } from "../../kernel/ids.ts";
import type { Change, NotBuilt } from "../../queue/engine/types.ts";
import { cut, oneLine } from "../git/names.ts";
import { type Built, type BuildRequest, HostUnavailable } from "../port.ts";
import { Answered } from "./client.ts";
import { compare, pathsInBoth, type Place, readCommit, requireRepository, unless } from "./place.ts";
import type { OntoContent, Stepped } from "./port.ts";
import { readPull } from "./pull-request.ts";

export type BuildAnswer =
  | { readonly ok: true; readonly value: Built }
  | { readonly ok: false; readonly why: Exclude<NotBuilt, { kind: "INFRASTRUCTURE" }> };

/** What is built, without who asked for it: a landing builds, too. */
export type Stack = Pick<BuildRequest, "branch" | "base" | "changes"> & {
  /** In the message of the last commit, so that each run's is its own: what CI says of another's is not about it. */
  readonly mark: string;
};

/** Leaves the branch where it is. One that an earlier attempt left is taken over. */
export async function buildStack(place: Place, stack: Stack): Promise<BuildAnswer> {
  const start = await startOf(place, stack);
  if (!(await pointBranch(place, stack.branch, start.at.commit))) {
    // What was merged for an earlier run may be gone since. The base may not.
    if (start.done === 0) throw new HostUnavailable(`commit ${stack.base} of the target branch is not there`);
    return buildFrom(place, stack, await baseOf(place, stack.base), 0);
  }
  return buildOn(place, stack, start.at, start.done);
}

/**
 * The tip under a commit of its own, which changes nothing: GitHub opens no pull request of a branch that has no commit
 * above its target.
 */
export async function buildOnTip(place: Place, { branch, base, mark }: Omit<Stack, "changes">): Promise<BuildAnswer> {
  const { tree } = await baseOf(place, base);
  const message = `Test the target as it is\n\n${mark}`;
  const commit = await commitOf(place, { message, tree, parents: [base] });
  if (commit === undefined || !(await pointBranch(place, branch, commit)))
    throw new HostUnavailable(`nothing can be built on commit ${base} of the target branch`);
  return { ok: true, value: { commit, tree } };
}

async function buildFrom(place: Place, stack: Stack, at: Stepped, done: number): Promise<BuildAnswer> {
  if (!(await pointBranch(place, stack.branch, at.commit)))
    throw new HostUnavailable(`commit ${stack.base} of the target branch is not there`);
  return buildOn(place, stack, at, done);
}

/** The branch stands at `from`, which holds the first `done` changes. */
async function buildOn(place: Place, stack: Stack, from: Stepped, done: number): Promise<BuildAnswer> {
  let at = from;
  for (const [index, change] of stack.changes.entries()) {
    if (index < done) continue;
    const isLast = index === stack.changes.length - 1;
    const merged = await mergeInto(place, stack.branch, at, change, isLast ? stack.mark : null);
    if (merged === "NOT_THERE")
      return { ok: false, why: { kind: "OWN", entry: change.entry, what: `commit ${change.headSha} is not there` } };
    if (merged === "CONFLICT") return { ok: false, why: await attribute(place, stack, index, change) };
    if (merged !== at) await keepStep(place, at, change, merged);
    at = merged;
  }
  return { ok: true, value: at };
}

/** The longest beginning that was merged before. The commit of the last change is always the run's own. */
async function startOf(place: Place, { base, changes, mark }: Stack): Promise<{ at: Stepped; done: number }> {
  let at = await baseOf(place, base);
  let done = 0;
  for (const [index, change] of changes.entries()) {
    const known =
      index === changes.length - 1
        ? await again(place, at, change, mark)
        : ((await place.memory.step(place.key, { parent: at.commit, head: change.headSha })) ??
          (await again(place, at, change, null)));
    if (known === undefined) break;
    at = known;
    done += 1;
  }
  return { at, done };
}

async function keepStep(place: Place, onto: Stepped, { headSha: head }: Change, made: Stepped): Promise<void> {
  await place.memory.putStep(place.key, { parent: onto.commit, head }, made);
  const parent = await contentUnder(place, onto, head);
  if (parent !== undefined) await place.memory.putStep(place.key, { parent, head }, made);
}

/** What a merge comes of: the content on both sides, and where they parted. What was reverted since is a part of that. */
async function contentUnder(
  place: Place,
  { commit, tree }: Stepped,
  head: CommitSha,
): Promise<OntoContent | undefined> {
  const compared = await compare(place, commit, head);
  return compared === undefined ? undefined : `${tree}+${compared.mergeBase}`;
}

/**
 * What was merged onto the same content, as a merge onto this commit. Where GitHub makes the commits as it lands, every
 * landing gives the target a commit that nothing was merged onto yet; merging the whole stack again would cost calls that
 * create content, of which there are few. A commit is made without one.
 */
async function again(place: Place, onto: Stepped, change: Change, mark: string | null): Promise<Stepped | undefined> {
  const { headSha: head } = change;
  const parent = await contentUnder(place, onto, head);
  const known = parent === undefined ? undefined : await place.memory.step(place.key, { parent, head });
  if (known === undefined) return undefined;
  const message = await messageOf(place, change, mark);
  const commit = await commitOf(place, { message, tree: known.tree, parents: [onto.commit, head] });
  if (commit === undefined) return undefined;
  const made = { commit, tree: known.tree };
  await keepStep(place, onto, change, made);
  return made;
}

type NewCommit = { readonly message: string; readonly tree: TreeSha; readonly parents: readonly CommitSha[] };

/** Undefined where its content or a parent is not there any more. */
export async function commitOf({ ask, at }: Place, { parents, ...one }: NewCommit): Promise<CommitSha | undefined> {
  const asked = { ...at, ...one, parents: [...parents] };
  const made = await unless([404, 422], () => ask("POST /repos/{owner}/{repo}/git/commits", asked));
  return made === undefined ? undefined : commitSha(made.data.sha);
}

async function baseOf(place: Place, base: CommitSha): Promise<Stepped> {
  const commit = await readCommit(place, base);
  if (commit === undefined) throw new HostUnavailable(`commit ${base} of the target branch is not there`);
  return { commit: base, tree: commit.tree };
}

/** Makes the branch, or moves the one that is there. False where there is no such commit. */
export async function pointBranch({ ask, at }: Place, branch: string, commit: CommitSha): Promise<boolean> {
  const asked = { ...at, sha: commit };
  const ref = `heads/${branch}`;
  const made = await unlessMissing(() => ask("POST /repos/{owner}/{repo}/git/refs", { ...asked, ref: `refs/${ref}` }));
  if (made !== "EXISTS") return made;
  const moved = () => ask("PATCH /repos/{owner}/{repo}/git/refs/{ref}", { ...asked, ref, force: true });
  return (await unlessMissing(moved)) === true;
}

/** A rule that keeps the branch where it is says nothing about the commit. */
const IN_THE_WAY = /\b(?:rule|protect|force|reference does not)/iu;

async function unlessMissing(work: () => Promise<unknown>): Promise<boolean | "EXISTS"> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Answered) || error.status !== 422) throw error;
    if (/already exists/iu.test(error.said)) return "EXISTS";
    if (IN_THE_WAY.test(error.said)) throw error;
    return false;
  }
}

/** Whether it is gone: a rule may keep it. */
export async function removeBranch({ ask, at }: Place, branch: string): Promise<boolean> {
  try {
    await ask("DELETE /repos/{owner}/{repo}/git/refs/{ref}", { ...at, ref: `heads/${branch}` });
    return true;
  } catch (error) {
    if (!(error instanceof Answered) || (error.status !== 404 && error.status !== 422)) throw error;
    return error.status === 404 || /does not exist/iu.test(error.said);
  }
}

const merge = z.object({
  sha: z.string(),
  commit: z.object({ tree: z.object({ sha: z.string() }) }),
  parents: z.array(z.object({ sha: z.string() })),
});

type Merged = Stepped | "CONFLICT" | "NOT_THERE";

/** `onto` itself where it contains the change already. */
async function mergeInto(
  place: Place,
  branch: string,
  onto: Stepped,
  change: Change,
  mark: string | null,
): Promise<Merged> {
  const { ask, at } = place;
  const commit_message = await messageOf(place, change, mark);
  try {
    const asked = { ...at, base: branch, head: change.headSha, commit_message };
    const { data } = await ask("POST /repos/{owner}/{repo}/merges", asked);
    // No content, which the published shape does not know of, where there is nothing to merge.
    const made = merge.safeParse(data).data;
    if (made === undefined) return await contained(place, onto, change);
    if (made.parents[0]?.sha !== onto.commit) throw crossed();
    return { commit: commitSha(made.sha), tree: treeSha(made.commit.tree.sha) };
  } catch (error) {
    if (!(error instanceof Answered)) throw error;
    if (error.status === 409) return "CONFLICT";
    if (error.status === 404 || error.status === 422) return notThere(place, change, error);
    throw error;
  }
}

/** A branch that somebody else moves at the same time: an attempt that was given up, and is not over at GitHub. */
const crossed = (): HostUnavailable => new HostUnavailable("somebody else merged onto the branch at the same time");

/** It was merged onto the branch before: as a part of what the branch began with, or by an attempt that was given up. */
async function contained(place: Place, onto: Stepped, { headSha }: Change): Promise<Stepped> {
  if ((await compare(place, onto.commit, headSha))?.ahead !== 0) throw crossed();
  return onto;
}

/** GitHub says the same of a branch, and of a repository, that it does not find. */
async function notThere(place: Place, { headSha }: Change, error: Answered): Promise<"NOT_THERE"> {
  await requireRepository(place);
  if ((await readCommit(place, headSha)) === undefined) return "NOT_THERE";
  throw new HostUnavailable(error.message, { cause: error });
}

/** A line of a pull request's description may say what its merge is to be called. */
const TITLE = /^merge-commit-title:[ \t]*(\S.*)$/imu;

export const titleIn = (body: string | null | undefined): string | undefined => {
  const title = TITLE.exec(body ?? "")?.[1];
  return title === undefined ? undefined : oneLine(title, 250);
};

/** Found in the message of a head commit, GitHub Actions runs nothing for it, and what is required never comes. */
const SKIPS = /\[(skip ci|ci skip|no ci|skip actions|actions skip)\]/giu;

async function messageOf(place: Place, change: Change, mark: string | null): Promise<string> {
  const pull = await readPull(place, change.prNumber);
  const named = titleIn(pull?.body) ?? `Merge #${change.prNumber}: ${oneLine(change.title, 250)}`;
  const title = named.replaceAll(SKIPS, "($1)");
  return cut(mark === null ? title : `${title}\n\n${mark}`, 1_000);
}

/**
 * With whom does a change conflict? With the base, if it conflicts there alone; else with the nearest earlier change
 * with which it conflicts on the base; else with the one just before it. Tried out on the run's own branch.
 */
async function attribute(
  place: Place,
  { branch, base, changes }: Stack,
  index: number,
  change: Change,
): Promise<Exclude<NotBuilt, { kind: "INFRASTRUCTURE" }>> {
  const on = await baseOf(place, base);
  const conflicts = async (...others: readonly Change[]): Promise<boolean> => {
    await pointBranch(place, branch, base);
    let at = on;
    for (const one of others) {
      const merged = await mergeInto(place, branch, at, one, null);
      if (typeof merged !== "string") at = merged;
    }
    return (await mergeInto(place, branch, at, change, null)) === "CONFLICT";
  };
  const conflict = async (other: Change | undefined) => {
    const paths = await pathsInBoth(place, change.headSha, other?.headSha ?? base);
    return { kind: "CONFLICT", entry: change.entry, with: other?.entry ?? null, paths } as const;
  };
  const earlier = changes.slice(0, index);
  if (earlier.length === 0 || (await conflicts())) return conflict(undefined);
  for (const other of earlier.toReversed()) if (await conflicts(other)) return conflict(other);
  return conflict(earlier.at(-1));
}
