import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { setQuarantine } from "../../shared/test-health/app/tests.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf } from "../test-health.ts";

export const handler = serve(testHealthRoutes["set-quarantine"], healthSide, async ({ input, principal }, app) => {
  const of = repositoryOf(principal.org, input);
  if (!of.ok) return of;
  const { test_case_id, setting } = input;
  const done = await setQuarantine(app, of.value, test_case_id, setting);
  return done.ok ? ok({ test_case_id, setting }) : done;
});
