import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf, settingsView } from "../test-health.ts";

export const handler = serve(
  testHealthRoutes["get-test-health-settings"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    return of.ok ? ok(settingsView(await app.health.settings(of.value))) : of;
  },
);
