import type { ReplyOf } from "../../shared/api/routes.ts";
import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { toRfc3339 } from "../../shared/kernel/time.ts";
import { type TestDetails, testDetails } from "../../shared/test-health/app/tests.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { presenter, repositoryOf, shownWith } from "../test-health.ts";
import { withGitHub } from "../with-github.ts";

export const handler = serve(
  testHealthRoutes["get-test-details"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    if (!of.ok) return of;
    const found = await testDetails(app, of.value, input.test_id);
    if (!found.ok) return found;
    return ok(present(await shownWith(app, of.value, input.repo, found.value.settings), found.value));
  },
  withGitHub(),
);

function present(shown: Parameters<typeof presenter>[0], { row, days }: TestDetails): ReplyOf<"get-test-details"> {
  const { record } = row;
  return {
    test: presenter(shown)(row),
    quarantine_setting: record.setting,
    evidence: record.evidence.map(({ rule, sha, at, uploads, what }) => ({
      rule,
      sha,
      at: toRfc3339(at),
      upload_ids: [...uploads],
      what,
    })),
    transitions: record.transitions
      .map(({ at, status, reason, rules, upload }) => ({
        at: toRfc3339(at),
        status,
        reason,
        rules: [...rules],
        upload_id: upload,
      }))
      .toReversed(),
    history: days.map((day) => ({ ...day })),
    latest_failure: record.summaries[0]?.example ?? null,
  };
}
