/** Branch protection and rulesets: why a branch may not be moved so, in GitHub's words. */
import type { Protection, Pull, Repository, World } from "../world.ts";
import { isUnstable, verdictOf } from "./checks.ts";
import { isAncestor } from "./commits.ts";

export type Move = {
  readonly branch: string;
  /** The commit that has to be good: a pull request's head, or what the branch is moved to. */
  readonly sha: string;
  readonly pull: Pull | null;
  /** The app that asks. */
  readonly app: string;
};

export const tipOf = (repo: Repository, branch: string): string | undefined => repo.known.get(`refs/heads/${branch}`);

/** `isBehind`: a head that lacks the tip has no results that count where the rule is strict. */
export function statusTrouble(
  repo: Repository,
  protection: Protection,
  sha: string,
  isBehind = false,
): readonly string[] {
  const verdicts = protection.requiredStatuses.map(({ context, appId }) => ({
    context,
    verdict: isBehind ? ("EXPECTED" as const) : verdictOf(repo, sha, context, appId),
  }));
  const failing = verdicts.filter((one) => one.verdict === "FAILED").length;
  const open = verdicts.filter((one) => one.verdict !== "PASSED");
  if (open.length === 0) return [];
  const what = failing === 0 ? "expected" : "failing";
  if (open.length === 1) return [`Required status check "${open[0]?.context}" is ${what}.`];
  const of = `${open.length} of ${verdicts.length} required status checks`;
  if (failing === 0 || failing === open.length) return [`${of} are ${what}.`];
  return [`${of} have not succeeded: ${open.length - failing} expected and ${failing} failing.`];
}

export function reviewTrouble(protection: Protection, pull: Pull | null): readonly string[] {
  if (protection.approvals === 0 || pull === null) return [];
  const latest = new Map(pull.reviews.filter((one) => one.state !== "COMMENTED").map((one) => [one.user.login, one]));
  const states = [...latest.values()].map((one) => one.state);
  if (states.includes("CHANGES_REQUESTED")) return ["Changes have been requested by a reviewer."];
  const approvals = states.filter((one) => one === "APPROVED").length;
  return approvals >= protection.approvals
    ? []
    : [`At least ${protection.approvals} approving review is required by reviewers with write access.`];
}

/** Why the move is refused; empty when it is allowed. */
export async function violations(repo: Repository, move: Move): Promise<readonly string[]> {
  const protection = repo.protections.get(move.branch);
  if (protection === undefined) return [];
  if (protection.onlyApps !== null && !protection.onlyApps.includes(move.app))
    return ["You're not authorized to push to this branch."];
  if (protection.bypass.includes(move.app)) return [];
  const byHand =
    (protection.requirePullRequest || protection.approvals > 0) && move.pull === null
      ? ["Changes must be made through a pull request."]
      : [];
  const tip = tipOf(repo, move.branch);
  const isBehind =
    protection.strict && move.pull !== null && tip !== undefined && !(await isAncestor(repo.git, tip, move.sha));
  return [...byHand, ...reviewTrouble(protection, move.pull), ...statusTrouble(repo, protection, move.sha, isBehind)];
}

export async function mergeableState(world: World, repo: Repository, pull: Pull): Promise<string> {
  const { mergeability } = pull;
  if (mergeability.kind !== "KNOWN" || pull.state === "closed") return "unknown";
  if (mergeability.mergeCommit === null) return "dirty";
  if (pull.draft) return "draft";
  const protection = repo.protections.get(pull.base.ref);
  const tip = tipOf(repo, pull.base.ref);
  if (protection !== undefined) {
    const bypasses = protection.bypass.includes(world.app.slug);
    const trouble = [...reviewTrouble(protection, pull), ...statusTrouble(repo, protection, pull.head.sha)];
    if (trouble.length > 0 && !bypasses) return "blocked";
    if (protection.strict && tip !== undefined && !(await isAncestor(repo.git, tip, pull.head.sha))) return "behind";
  }
  return isUnstable(repo, pull.head.sha) ? "unstable" : "clean";
}
