import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { testingDetails } from "../../shared/queue/app/test-runs.ts";
import { keyOf, testRun } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["get-merge-queue-testing-details"],
  queueSide,
  async ({ input, principal }, app) => {
    const wanted = { prNumber: input.pr?.number, testRunId: input.testRunId };
    const found = await testingDetails(app, keyOf(principal.org, input), wanted);
    if (!found.ok) return found;
    const testRuns = found.value.runs.map(testRun);
    return ok({ ...(found.value.named ? testRuns[0] : {}), testRuns });
  },
);
