import type { Entry, PullRequestFacts, QueueState } from "./types.ts";

/** One prerequisite that is missing. `kind` is for programs, `message` says what it is and what would mend it. */
export type Missing = {
  readonly kind:
    | "HOST_NOT_CONNECTED"
    | "HOST_UNREACHABLE"
    | "UNKNOWN_PULL_REQUEST"
    | "BASE_BRANCH_DIFFERS"
    | "DRAFT"
    | "NOT_MERGEABLE"
    | "MERGEABILITY_UNKNOWN"
    | "TARGET_UNKNOWN"
    | "NO_IMPACTED_TARGETS"
    | "COMPARING_TARGETS";
  readonly message: string;
};

type Judging = Pick<QueueState, "branch" | "tip" | "mode">;

/** What keeps an entry from being admitted, all at once; empty when it is ready. */
export function missingOf(state: Judging, entry: Entry): readonly Missing[] {
  const { pr, trouble } = entry;
  if (pr === null) return [unasked(trouble)];
  const missing: Missing[] = [];
  if (state.tip === null) missing.push({ kind: "TARGET_UNKNOWN", message: `${state.branch} has not been read yet` });
  if (pr.baseBranch !== state.branch)
    missing.push({
      kind: "BASE_BRANCH_DIFFERS",
      message: `its base branch is ${pr.baseBranch}: retarget it to ${state.branch}, or submit it to the queue of its base`,
    });
  if (pr.draft) missing.push({ kind: "DRAFT", message: "it is a draft: mark it ready for review" });
  if (pr.mergeability === "NOT_MERGEABLE")
    missing.push({ kind: "NOT_MERGEABLE", message: pr.obstacle ?? "the code host says that it cannot be merged" });
  if (pr.mergeability === "IN_PROGRESS")
    missing.push({
      kind: "MERGEABILITY_UNKNOWN",
      message: pr.obstacle ?? "the code host is still working out whether it can be merged",
    });
  if (state.mode === "PARALLEL" && entry.targets === null)
    missing.push({ kind: "NO_IMPACTED_TARGETS", message: noTargets(state, entry) });
  else if (state.mode === "PARALLEL" && entry.lane === null)
    missing.push({ kind: "COMPARING_TARGETS", message: "its impacted targets are being compared with the others'" });
  return missing;
}

function noTargets({ tip }: Judging, { headSha, computedFor }: Entry): string {
  const head = headSha === null ? "its head" : headSha.slice(0, 12);
  if (tip?.targetsFromPaths === true && computedFor !== null)
    return `the impacted targets of ${head} are being computed from the paths that it changes`;
  return (
    `this queue makes lanes, and nobody has sent the impacted targets of ${head}: send them with /v1/setImpactedTargets ` +
    '(a list, or "ALL" if they are unknown; a list above some megabytes gzipped, or by its upload), ' +
    "or map paths to targets in .mainline.yaml"
  );
}

/** The facts were judged against another tip than the present one: what they say of mergeability may be out of date. */
export const isOutdated = (state: Judging, pr: PullRequestFacts): boolean =>
  pr.judgedOn !== null && state.tip !== null && pr.judgedOn !== state.tip.sha;

function unasked(trouble: Entry["trouble"]): Missing {
  switch (trouble?.kind) {
    case "NOT_CONNECTED":
      return { kind: "HOST_NOT_CONNECTED", message: trouble.what };
    case "NOT_FOUND":
      return { kind: "UNKNOWN_PULL_REQUEST", message: trouble.what };
    case "UNREACHABLE":
      return {
        kind: "HOST_UNREACHABLE",
        message: `the code host does not answer (${trouble.what}); it is asked again`,
      };
    case undefined:
      return { kind: "HOST_UNREACHABLE", message: "the code host has not been asked yet" };
  }
}
