/** Moves the target to a commit that descends from it, never by force: GitHub refuses whatever is no fast-forward. */
import type { CommitSha } from "../../kernel/ids.ts";
import type { NotLanded } from "../../queue/engine/types.ts";
import { HostUnavailable, type LandRequest } from "../port.ts";
import { Answered } from "./client.ts";
import { branchSha, compare, type Place } from "./place.ts";

export const MOVED: NotLanded = { kind: "TIP_MOVED" };

/** Null once the target contains the commit because of this landing: now, or in an attempt whose answer was lost. */
export async function moveTarget(
  place: Place,
  { targetBranch, expectedTip }: LandRequest,
  commit: CommitSha,
): Promise<NotLanded | null> {
  const present = await branchSha(place, targetBranch);
  if (present !== expectedTip) return (await contains(place, present, commit, expectedTip)) ? null : MOVED;
  if (commit === expectedTip) return null;
  const refused = await tryMove(place, targetBranch, commit);
  if (refused === null) return null;
  // Whatever was answered, or not: where the target is now says what happened.
  const now = await branchSha(place, targetBranch);
  if (await contains(place, now, commit, expectedTip)) return null;
  if (now !== expectedTip) return MOVED;
  if (refused instanceof Answered)
    return { kind: "REFUSED", what: `GitHub refuses to move the branch: ${refused.said}` };
  throw refused;
}

/** Landing nothing on a tip that moved is no earlier landing: everything above the expected tip contains it. */
async function contains(place: Place, tip: CommitSha | undefined, commit: CommitSha, expectedTip: CommitSha) {
  if (tip === undefined || commit === expectedTip) return false;
  return tip === commit || (await compare(place, tip, commit))?.ahead === 0;
}

/** 422: no fast-forward, or a rule of the branch. 409: somebody else moves it at this moment. */
async function tryMove({ ask, at }: Place, branch: string, sha: CommitSha): Promise<Answered | HostUnavailable | null> {
  try {
    await ask("PATCH /repos/{owner}/{repo}/git/refs/{ref}", { ...at, ref: `heads/${branch}`, sha, force: false });
    return null;
  } catch (error) {
    if (error instanceof Answered && error.status === 422) return error;
    if (error instanceof Answered) return new HostUnavailable(error.message, { cause: error });
    if (error instanceof HostUnavailable) return error;
    throw error;
  }
}
