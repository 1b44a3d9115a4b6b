import { ok } from "../../shared/kernel/result.ts";
import { serve } from "../serve.ts";
import { repositoryOf, settingsView } from "../test-health.ts";

export const handler = serve("get-test-health-settings", async ({ input, principal }, app) => {
  const of = repositoryOf(principal.org, input);
  return of.ok ? ok(settingsView(await app.health.settings(of.value))) : of;
});
