/** Lands pull requests one by one, as GitHub's own button does, with their heads pinned. */
import { setTimeout as sleep } from "node:timers/promises";
import { type CommitSha, commitSha, type EntryId, type TreeSha } from "../../kernel/ids.ts";
import type { Change, NotLanded } from "../../queue/engine/types.ts";
import { HostUnavailable, type LandRequest } from "../port.ts";
import { titleIn } from "./build.ts";
import { Answered } from "./client.ts";
import { MOVED } from "./move.ts";
import { branchSha, type Place, readCommit } from "./place.ts";
import { readPull } from "./pull-request.ts";

export type Pulled =
  | {
      readonly landed: readonly EntryId[];
      readonly sha: CommitSha;
      readonly tree: TreeSha;
      readonly onMovedTip: boolean;
    }
  | NotLanded;

/**
 * Goes on where an earlier attempt stopped: what is merged is merged. One that GitHub refuses ends it; what landed
 * before that has landed.
 */
export async function mergePulls(place: Place, request: LandRequest): Promise<Pulled> {
  const landed: EntryId[] = [];
  let at = request.expectedTip;
  let onMovedTip = false;
  for (const change of request.changes) {
    const merged = await mergeOne(place, request, change, at);
    if (typeof merged !== "string") {
      if (landed.length === 0) return merged;
      break;
    }
    onMovedTip ||= !(await isOn(place, merged, at, request, change));
    landed.push(change.entry);
    at = merged;
  }
  const commit = await readCommit(place, at);
  if (commit === undefined) throw new HostUnavailable(`commit ${at} of the target branch cannot be read`);
  return { landed, sha: at, tree: commit.tree, onMovedTip };
}

const ATTEMPTS = 6;
const ATTEMPT_MS = 1_000;

async function mergeOne(
  place: Place,
  { targetBranch, mergeMethod }: LandRequest,
  { prNumber, headSha }: Change,
  expected: CommitSha,
): Promise<CommitSha | NotLanded> {
  for (let attempt = 1; ; attempt += 1) {
    const pull = await readPull(place, prNumber);
    if (pull === undefined) return { kind: "REFUSED", what: `there is no pull request #${prNumber} any more` };
    // GitHub merges it into whatever it is of, and whoever wrote it may change that at any moment.
    if (pull.base.ref !== targetBranch) return elsewhere(prNumber, pull.base.ref);
    if (pull.merged && pull.merge_commit_sha !== null) return commitSha(pull.merge_commit_sha);
    if ((await branchSha(place, targetBranch)) !== expected) return MOVED;
    const title = titleIn(pull.body);
    const refused = await tryMerge(place, prNumber, {
      sha: headSha,
      merge_method: mergeMethod === "REBASE" ? "rebase" : "squash",
      ...(title === undefined ? {} : { commit_title: title }),
    });
    const now = await readPull(place, prNumber);
    if (typeof refused === "string")
      return now === undefined || now.base.ref === targetBranch ? refused : elsewhere(prNumber, now.base.ref);
    if (now?.merged === true) continue;
    if (!(refused instanceof Answered)) throw refused;
    const isForNow =
      refused.status === 405 && (now?.mergeable === null || /base branch was modified/iu.test(refused.said));
    if (!isForNow) return { kind: "REFUSED", what: `GitHub refuses to merge it: ${refused.said}` };
    if (attempt >= ATTEMPTS) throw new HostUnavailable(`GitHub does not merge #${prNumber} for now: ${refused.said}`);
    await sleep(ATTEMPT_MS);
  }
}

const elsewhere = (prNumber: number, base: string): NotLanded => ({
  kind: "REFUSED",
  what: `the base branch of #${prNumber} is ${base} now`,
});

type Asked = { readonly sha: CommitSha; readonly merge_method: "squash" | "rebase"; readonly commit_title?: string };

/** 405: its rules or its mergeability. 409: its head is another commit. 422: the repository forbids the method. */
async function tryMerge(
  { ask, at }: Place,
  pull_number: number,
  asked: Asked,
): Promise<CommitSha | Answered | HostUnavailable> {
  try {
    const { data } = await ask("PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge", { ...at, pull_number, ...asked });
    return commitSha(data.sha);
  } catch (error) {
    if (error instanceof Answered && [405, 409, 422].includes(error.status)) return error;
    if (error instanceof Answered) return new HostUnavailable(error.message, { cause: error });
    if (error instanceof HostUnavailable) return error;
    throw error;
  }
}

const REBASED_MAX = 250;

/** What was merged stands on that commit, with nothing of anybody else's in between. */
async function isOn(
  place: Place,
  merged: CommitSha,
  on: CommitSha,
  { mergeMethod }: LandRequest,
  { prNumber }: Change,
): Promise<boolean> {
  const steps = mergeMethod === "SQUASH" ? 1 : ((await readPull(place, prNumber))?.commits ?? 1);
  let at: CommitSha | undefined = merged;
  for (let left = Math.min(steps, REBASED_MAX); left > 0 && at !== undefined && at !== on; left -= 1)
    at = (await readCommit(place, at))?.parents[0];
  return at === on;
}
