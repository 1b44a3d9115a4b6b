/**
 * Moves the target branch to tested content: one compare-and-swap, never by force. What would land is a function of
 * the request alone, so a second attempt after a crash recognises what the first one did.
 */
import type { CommitSha, TreeSha } from "../../kernel/ids.ts";
import { HostUnavailable, type Landed, type LandRequest } from "../port.ts";
import type { NotLanded } from "../../queue/engine/types.ts";
import { buildStack } from "./build.ts";
import { pathsInWords } from "./merge.ts";
import { isBranchName, isObjectName, OWN_BRANCHES } from "./names.ts";
import { isAncestor, readCommit } from "./objects.ts";
import { writeMergedHead } from "./pulls.ts";
import { swapRef } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { targetSha, tipAt } from "./tip.ts";

export type LandAnswer =
  | { readonly ok: true; readonly value: Landed }
  | { readonly ok: false; readonly why: NotLanded };

const refused = (what: string): LandAnswer => ({ ok: false, why: { kind: "REFUSED", what } });
const MOVED: LandAnswer = { ok: false, why: { kind: "TIP_MOVED" } };

export async function land(repo: Repository, request: LandRequest): Promise<LandAnswer> {
  const { targetBranch, expectedTip } = request;
  const target = `refs/heads/${targetBranch}`;
  if (!isBranchName(targetBranch) || target.startsWith(OWN_BRANCHES) || !isObjectName(expectedTip))
    return refused("the target is not a branch that may be landed on");
  if ((await targetSha(repo, targetBranch)) === undefined) return MOVED;
  const candidate = await whatLands(repo, request);
  if (!("commit" in candidate)) return candidate;
  if (!(await place(repo, request, candidate.commit))) return MOVED;
  for (const change of request.changes) await writeMergedHead(repo.dir, change.prNumber, change.headSha);
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
  const tested = await readCommit(repo.objects, request.commit);
  if (tested === undefined) throw new HostUnavailable(`the tested commit ${request.commit} is not in the repository`);
  if (tested.tree !== request.tree) return refused("the tested commit does not hold the tested content");
  if (await isAncestor(repo.objects, request.expectedTip, request.commit))
    return { commit: request.commit, tree: request.tree };
  // An expected tip that is not here was never seen on this repository's branch.
  if ((await readCommit(repo.objects, request.expectedTip)) === undefined) return MOVED;
  const built = await buildStack(repo.objects, request.mergeMethod, request.expectedTip, request.changes);
  if (built.ok) return built.value;
  if (built.why.kind === "OWN") return refused(built.why.what);
  return {
    ok: false,
    why: { kind: "CONFLICT", what: `it conflicts with what landed: ${pathsInWords(built.why.paths)}` },
  };
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
