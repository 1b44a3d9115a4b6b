import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { listUnhealthy } from "../../shared/test-health/app/lists.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf, shownWith, unhealthyPage } from "../test-health.ts";
import { withGitHub } from "../with-github.ts";

export const handler = serve(
  testHealthRoutes["list-unhealthy-tests"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    if (!of.ok) return of;
    const found = await listUnhealthy(app, of.value, input.status, input.page_query);
    if (!found.ok) return found;
    return ok(unhealthyPage(await shownWith(app, of.value, input.repo, found.value.settings), found.value));
  },
  withGitHub(),
);
