/**
 * Brings tested content onto the target. By merge commits the target is moved to the tested commit in one step; by
 * squash and rebase GitHub makes the commits, one pull request after the other, and their content is compared after.
 */
import { HostUnavailable, type Landed, type LandRequest } from "../port.ts";
import type { NotLanded } from "../../queue/engine/types.ts";
import { isBranchName, isObjectName, OWN_BRANCHES } from "../git/names.ts";
import { carriedOnTip, comeToTheSame, type Content, contentOfRun, mergedOnTip, type Refusal } from "./contents.ts";
import { mergePulls } from "./merge-pulls.ts";
import { MOVED, moveTarget } from "./move.ts";
import { branchSha, type Commit, compare, hasMerges, type Place, readCommit } from "./place.ts";
import { tipAt } from "./tip.ts";

export type LandAnswer =
  | { readonly ok: true; readonly value: Landed }
  | { readonly ok: false; readonly why: NotLanded };

const no = (why: NotLanded): LandAnswer => ({ ok: false, why });
const refused = (what: string): Refusal => ({ kind: "REFUSED", what });

export async function land(place: Place, request: LandRequest): Promise<LandAnswer> {
  const { targetBranch, commit, tree, expectedTip } = request;
  if (
    !isBranchName(targetBranch) ||
    `refs/heads/${targetBranch}`.startsWith(OWN_BRANCHES) ||
    !isObjectName(expectedTip)
  )
    return no(refused("the target is not a branch that may be landed on"));
  const tested = await readCommit(place, commit);
  if (tested === undefined) throw new HostUnavailable(`the tested commit ${commit} is not in the repository`);
  if (tested.tree !== tree) return no(refused("the tested commit does not hold the tested content"));
  const content =
    request.run === null ? await contentOfHead(place, request) : await contentToLand(place, request, tested);
  if ("kind" in content) {
    // What stands in the way on a tip that is not there any more is no fault of the pull request.
    const isThere = (await branchSha(place, targetBranch)) === expectedTip;
    return no(isThere ? content : MOVED);
  }
  if (content.commit !== null) return landCommit(place, request, { ...content, commit: content.commit });
  return landPulls(place, request, content);
}

async function landCommit(
  place: Place,
  request: LandRequest,
  { commit, tree }: Content & { readonly commit: Commit["sha"] },
): Promise<LandAnswer> {
  const not = await moveTarget(place, request, commit);
  if (not !== null) return no(not);
  const tip = await tipAt(place, request.targetBranch, { sha: commit, tree });
  return { ok: true, value: { tip, trees: "EQUAL" } };
}

async function landPulls(place: Place, request: LandRequest, content: Content): Promise<LandAnswer> {
  const pulled = await mergePulls(place, request);
  if ("kind" in pulled) return no(pulled);
  const { landed, sha, tree, onMovedTip } = pulled;
  const tip = await tipAt(place, request.targetBranch, { sha, tree });
  const isAll = landed.length === request.changes.length;
  // GitHub merged pinned heads onto what it found there: on another tip there is nothing to compare with.
  const trees = !isAll || onMovedTip || tree === content.tree ? "EQUAL" : "DIFFERENT";
  return {
    ok: true,
    value: { tip, trees, ...(isAll ? {} : { landed }), ...(onMovedTip ? { onMovedTip } : {}) },
  };
}

/** Where GitHub makes the commits, only the content is of use. */
async function contentToLand(place: Place, request: LandRequest, tested: Commit): Promise<Content | Refusal> {
  const found = await contentOfRun(place, tested, request);
  if (found !== undefined && "kind" in found) return found;
  const makesCommits = request.mergeMethod !== "MERGE_COMMIT";
  if (found !== undefined) {
    const { commit, tree, above } = found;
    if (commit !== null || (await comeToTheSame(place, above, request.expectedTip)))
      return { commit: makesCommits ? null : (commit ?? (await carriedOnTip(place, request, above))), tree };
  }
  const onTip = await mergedOnTip(place, request);
  if ("kind" in onTip) return onTip;
  if (found !== undefined && onTip.tree !== found.tree) return refused("merged onto the target it is something else");
  return makesCommits ? { commit: null, tree: onTip.tree } : onTip;
}

const NOT_ITS_HEAD = "what is to land is not the head of this one pull request";

/** Without a run: the checks of the head itself prove its content, which contains the target already. */
async function contentOfHead(place: Place, request: LandRequest): Promise<Content | Refusal> {
  const { changes, commit, tree, expectedTip, mergeMethod } = request;
  const [only, ...others] = changes;
  if (only === undefined || others.length > 0 || only.headSha !== commit) return refused(NOT_ITS_HEAD);
  const compared = await compare(place, expectedTip, commit);
  if (compared === undefined || compared.behind > 0) return refused("its head does not contain the target");
  if (mergeMethod === "SQUASH") return { commit: null, tree };
  // Commits cannot be rebased one by one over a merge among them: then the head lands as it is.
  if (mergeMethod === "REBASE") return { commit: (await hasMerges(place, expectedTip, commit)) ? commit : null, tree };
  const onTip = await mergedOnTip(place, request);
  return "kind" in onTip || onTip.tree === tree ? onTip : refused(NOT_ITS_HEAD);
}
