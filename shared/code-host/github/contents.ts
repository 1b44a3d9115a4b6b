/**
 * What is to be on the target once a landing is done. The tested commit is a chain of merges that this service had
 * GitHub make: read back, it shows what was merged onto what.
 */
import type { CommitSha, TreeSha } from "../../kernel/ids.ts";
import type { Change } from "../../queue/engine/types.ts";
import { HostUnavailable, type LandRequest } from "../port.ts";
import { buildStack, commitOf, removeBranch } from "./build.ts";
import { branchSha, type Commit, compare, type Place, readCommit } from "./place.ts";
import type { Stepped } from "./port.ts";

export type Refusal = { readonly kind: "REFUSED" | "CONFLICT"; readonly what: string };

/** `commit` is null where the content is known and no commit on top of the tip holds it yet. */
export type Content = { readonly commit: CommitSha | null; readonly tree: TreeSha };

/** The merges that lead from the tip's content to the tested one, on a commit that need not be the tip. */
export type Chained = Content & { readonly above: readonly Commit[] };

const NOT_THOSE: Refusal = {
  kind: "REFUSED",
  what: "the tested commit holds something else than the target and the changes that are to land",
};

/** Longer chains are not built: a run contains at most so many pull requests. */
const CHAIN_MAX = 2_000;

/** What the tested run puts on the expected tip; undefined where that takes a merge onto a tip of other lanes. */
export async function contentOfRun(
  place: Place,
  tested: Commit,
  { base, expectedTip, changes }: LandRequest,
): Promise<Chained | Refusal | undefined> {
  const tip = await mustRead(place, expectedTip);
  const heads: CommitSha[] = [];
  const above: Commit[] = [];
  const areThose = (some: readonly CommitSha[]) => areAll(place, changes, some, expectedTip);
  let at = tested;
  for (let left = CHAIN_MAX; left > 0; left -= 1) {
    const { tree } = tested;
    if (at.sha === expectedTip) return (await areThose(heads)) ? { commit: tested.sha, tree, above } : NOT_THOSE;
    if (at.tree === tip.tree && (await areThose(heads))) return { commit: null, tree, above };
    const [parent, head] = at.parents;
    if (at.sha === base || parent === undefined || head === undefined) break;
    heads.unshift(head);
    above.unshift(at);
    at = await mustRead(place, parent);
  }
  return changes.length > 0 && (await areThose(heads.slice(-changes.length))) ? undefined : NOT_THOSE;
}

/** Those heads, in that order. GitHub makes no merge of a change that is contained in the tip, or in one before it. */
async function areAll(place: Place, changes: readonly Change[], heads: readonly CommitSha[], tip: CommitSha) {
  let at = 0;
  for (const { headSha } of changes) {
    if (heads[at] === headSha) at += 1;
    else if (!(await isIn(place, headSha, [tip, ...heads.slice(0, at)]))) return false;
  }
  return at === heads.length;
}

async function isIn(place: Place, head: CommitSha, some: readonly CommitSha[]): Promise<boolean> {
  for (const one of some) if ((await compare(place, one, head))?.ahead === 0) return true;
  return false;
}

async function mustRead(place: Place, sha: CommitSha): Promise<Commit> {
  const commit = await readCommit(place, sha);
  if (commit === undefined) throw new HostUnavailable(`commit ${sha} is not in the repository any more`);
  return commit;
}

/**
 * Whether those merges come to the same on the expected tip, which has the content that they were made on: not where it
 * has more of their history, or less. What was reverted there is not to come back.
 */
export async function comeToTheSame(place: Place, above: readonly Commit[], expectedTip: CommitSha): Promise<boolean> {
  const from = above[0]?.parents[0];
  if (from === undefined) return true;
  for (const { parents } of above) {
    const [, head] = parents;
    if (head === undefined) return false;
    const [before, now] = [await compare(place, from, head), await compare(place, expectedTip, head)];
    if (before === undefined || before.mergeBase !== now?.mergeBase) return false;
  }
  return true;
}

/**
 * The same merges with the same content, on the expected tip: nothing is merged anew, and no branch is needed for it.
 * Once for each tested commit and tip: whoever tries again has to find what may have landed.
 */
export async function carriedOnTip(
  place: Place,
  { commit: tested, tree: whole, expectedTip }: LandRequest,
  above: readonly Commit[],
): Promise<CommitSha> {
  const name = { parent: expectedTip, head: tested };
  const known = await place.memory.step(place.key, name);
  if (known !== undefined) return known.commit;
  let at = expectedTip;
  for (const { message, tree, parents } of above) {
    const commit = await commitOf(place, { message, tree, parents: [at, ...parents.slice(1)] });
    if (commit === undefined) throw new HostUnavailable(`commit ${at} cannot be built on`);
    at = commit;
  }
  await place.memory.putStep(place.key, name, { commit: at, tree: whole });
  return at;
}

/**
 * Merges the changes onto the expected tip, on a branch that is removed at once. Once for each tested commit and tip;
 * for a tip that is not there any more only if that was done before: then it may have landed.
 */
export async function mergedOnTip(place: Place, request: LandRequest): Promise<Stepped | Refusal> {
  const { commit, expectedTip: base, changes, run, targetBranch } = request;
  const name = { parent: base, head: commit };
  const branch = `mainline/landing/${run ?? `direct-${changes[0]?.prNumber ?? 0}`}`;
  const known = await place.memory.step(place.key, name);
  if (known !== undefined || (await branchSha(place, targetBranch)) !== base) {
    // Whoever died in an earlier attempt may have left it.
    await removeBranch(place, branch);
    return known ?? { kind: "REFUSED", what: "the target is not where it was expected" };
  }
  const built = await buildStack(place, { branch, base, changes, mark: `Mainline-Run: ${run ?? "none"}` });
  // Remembered before the branch goes: nothing else leads to the commit.
  if (built.ok) await place.memory.putStep(place.key, name, built.value);
  await removeBranch(place, branch);
  if (built.ok) return built.value;
  const { why } = built;
  if (why.kind === "OWN") return { kind: "REFUSED", what: why.what };
  return { kind: "CONFLICT", what: `it conflicts with what landed: ${why.paths.join(", ")}` };
}
