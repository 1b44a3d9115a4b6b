import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { listFailing } from "../../shared/test-health/app/lists.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { failingPage, repositoryOf, shownWith } from "../test-health.ts";
import { withGitHub } from "../with-github.ts";

export const handler = serve(
  testHealthRoutes["list-failing-tests"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    if (!of.ok) return of;
    const found = await listFailing(app, of.value, input.start_time, input.end_time, input.page_query);
    if (!found.ok) return found;
    return ok(failingPage(await shownWith(app, of.value, input.repo, found.value.settings), found.value));
  },
  withGitHub(),
);
