import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { quarantineOf } from "../../shared/test-health/app/quarantine.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf } from "../test-health.ts";

export const handler = serve(
  testHealthRoutes["get-quarantine-config"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, { repo: input.repo, org_url_slug: input.orgUrlSlug });
    if (!of.ok) return of;
    const { isDisabled, testIds } = await quarantineOf(app, of.value, input.repo, input.testIdentifiers);
    return ok({ isDisabled, testIds: [...testIds] });
  },
);
