/** What rulesets ask of a branch; the older branch protection is not told here, as on GitHub. */
import { fullName, type Repository } from "../world.ts";

const RULESET = 42;

export function ruleShapes(repo: Repository, branch: string): readonly object[] {
  const held = repo.protections.get(branch);
  if (held?.by !== "ruleset") return [];
  const of = { ruleset_source_type: "Repository", ruleset_source: fullName(repo), ruleset_id: RULESET };
  const statuses = {
    type: "required_status_checks",
    parameters: {
      strict_required_status_checks_policy: held.strict,
      do_not_enforce_on_create: false,
      required_status_checks: held.requiredStatuses.map(({ context, appId }) => ({
        context,
        ...(appId === null ? {} : { integration_id: appId }),
      })),
    },
  };
  const reviews = {
    type: "pull_request",
    parameters: {
      required_approving_review_count: held.approvals,
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_review_thread_resolution: false,
      allowed_merge_methods: (["merge", "squash", "rebase"] as const).filter((method) => repo.allow[method]),
    },
  };
  return [
    ...(held.requiredStatuses.length === 0 ? [] : [statuses]),
    ...(held.approvals === 0 && !held.requirePullRequest ? [] : [reviews]),
    ...(held.linearHistory ? [{ type: "required_linear_history" }] : []),
    { type: "non_fast_forward" },
    { type: "deletion" },
  ].map((rule) => ({ ...rule, ...of }));
}
