/**
 * Moves the target branch to tested content: one compare-and-swap, never by force. What would land is a function of
 * the request alone, so a second attempt after a crash recognises what the first one did.
 */
import type { CommitSha, TreeSha } from "../../kernel/ids.ts";
import { HostUnavailable, type Landed, type LandRequest } from "../port.ts";
import { MERGE_METHODS, type NotLanded } from "../../queue/engine/types.ts";
import { buildStack } from "./build.ts";
import { pathsInWords } from "./merge.ts";
import { isBranchName, isObjectName, OWN_BRANCHES } from "./names.ts";
import { isAncestor, readCommit } from "./objects.ts";
import { writeMergedHead } from "./pulls.ts";
import type { Passing } from "./points.ts";
import { swapRef } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { targetSha, tipAt } from "./tip.ts";

export type LandAnswer =
  | { readonly ok: true; readonly value: Landed }
  | { readonly ok: false; readonly why: NotLanded };

const refused = (what: string): LandAnswer => ({ ok: false, why: { kind: "REFUSED", what } });
const MOVED: LandAnswer = { ok: false, why: { kind: "TIP_MOVED" } };

export async function land(repo: Repository, request: LandRequest, passing: Passing): Promise<LandAnswer> {
  const { targetBranch, expectedTip } = request;
  const target = `refs/heads/${targetBranch}`;
  if (!isBranchName(targetBranch) || target.startsWith(OWN_BRANCHES) || !isObjectName(expectedTip))
    return refused("the target is not a branch that may be landed on");
  const present = await targetSha(repo, targetBranch);
  if (present === undefined) return MOVED;
  const candidate = await whatLands(repo, request);
  // What stands in the way of landing on a tip that is not there any more is no fault of the pull request.
  if (!("commit" in candidate)) return present === expectedTip ? candidate : MOVED;
  if (!(await place(repo, request, candidate.commit))) return MOVED;
  passing("host:target-moved");
  for (const change of request.changes) await writeMergedHead(repo.dir, change.prNumber, change.headSha);
  passing("host:merge-noted");
  // The tip as landed: if somebody pushed on top since, that is a movement of its own, seen by the next look.
  const tip = await tipAt(repo, candidate.commit);
  return { ok: true, value: { tip, trees: tip.tree === candidate.tree ? "EQUAL" : "DIFFERENT" } };
}

type Candidate = { readonly commit: CommitSha; readonly tree: TreeSha };

/**
 * The tested commit itself where it descends from the tip. Where it does not, the same changes merged onto the tip:
 * the same tree if only history differs, and in parallel mode a new one, which the engine allows for disjoint lanes.
 */
async function whatLands(repo: Repository, request: LandRequest): Promise<Candidate | LandAnswer> {
  const { commit, tree, expectedTip } = request;
  const tested = await readCommit(repo.objects, commit);
  if (tested === undefined) throw new HostUnavailable(`the tested commit ${commit} is not in the repository`);
  if (tested.tree !== tree) return refused("the tested commit does not hold the tested content");
  // An expected tip that is not here was never seen on this repository's branch.
  if ((await readCommit(repo.objects, expectedTip)) === undefined) return MOVED;
  const descends = await isAncestor(repo.objects, expectedTip, commit);
  if (request.run === null)
    return descends ? headAsItLands(repo, request) : refused("its head does not contain the target");
  if (descends) return (await isTipAndChanges(repo, request)) ? { commit, tree } : refused(NOT_THOSE);
  const built = await buildStack(repo.objects, request.mergeMethod, expectedTip, request.changes);
  if (built.ok) return built.value;
  if (built.why.kind === "OWN") return refused(built.why.what);
  return {
    ok: false,
    why: { kind: "CONFLICT", what: `it conflicts with what landed: ${pathsInWords(built.why.paths)}` },
  };
}

const NOT_THOSE = "the tested commit holds something else than the target and the changes that are to land";

/**
 * The tree check: what would land is the tip with exactly these changes. By any method, since the queue's may have
 * been changed since the run was built; the content is what counts.
 */
async function isTipAndChanges(repo: Repository, { mergeMethod, expectedTip, changes, tree }: LandRequest) {
  const methods = [mergeMethod, ...MERGE_METHODS.filter((method) => method !== mergeMethod)];
  for (const method of methods) {
    const built = await repo.aside((git) => buildStack(git, method, expectedTip, changes));
    if (built.ok && built.value.tree === tree) return true;
  }
  return false;
}

/**
 * Without a run: the checks of the head itself prove its content, which comes onto the target by the queue's method like
 * any other, so that what is built on top of it in advance is built on what lands. Where commits cannot be rebased one
 * by one to the same content, the head lands as it is: it is the pull request's own commits on top of the target.
 */
async function headAsItLands(repo: Repository, request: LandRequest): Promise<Candidate | LandAnswer> {
  const { mergeMethod, expectedTip, commit, tree, changes } = request;
  if (changes.length !== 1 || changes[0]?.headSha !== commit) return refused(NOT_THOSE);
  const built = await buildStack(repo.objects, mergeMethod, expectedTip, changes);
  if (built.ok && built.value.tree === tree) return built.value;
  return mergeMethod === "REBASE" ? { commit, tree } : refused(NOT_THOSE);
}

/** True when the target contains the commit because of this landing: now, or in an attempt whose answer was lost. */
async function place(repo: Repository, request: LandRequest, commit: CommitSha): Promise<boolean> {
  const target = `refs/heads/${request.targetBranch}`;
  if (await swapRef(repo, target, commit, request.expectedTip)) return true;
  // Landing nothing on a tip that moved is not an earlier landing: everything above the expected tip contains it.
  if (commit === request.expectedTip) return false;
  const present = await targetSha(repo, request.targetBranch);
  return present !== undefined && (await isAncestor(repo.objects, commit, present));
}
