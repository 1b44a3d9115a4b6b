import { otherRoutes } from "../../shared/api/other-routes.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { metricsText } from "../../shared/metrics/write.ts";
import { metricsFacts } from "../../shared/queue/app/metrics.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(otherRoutes["get-merge-queue-metrics"], queueSide, async ({ input, principal }, app) => {
  const scope = "repo" in input ? input.repo : undefined;
  return ok(await metricsText(await metricsFacts(app, principal.org, scope && repoKey(scope))));
});
