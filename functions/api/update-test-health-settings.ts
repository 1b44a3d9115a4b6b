import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { changeSettings } from "../../shared/test-health/app/settings.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf, settingsView } from "../test-health.ts";

export const handler = serve(
  testHealthRoutes["update-test-health-settings"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    if (!of.ok) return of;
    const { repo: _, org_url_slug: __, ...patch } = input;
    const settings = await app.health.changeSettings(of.value, (present) => changeSettings(present, patch));
    // Other rules may say something else of what is known already.
    await app.health.markDue(of.value, app.clock());
    return ok(settingsView(settings));
  },
);
