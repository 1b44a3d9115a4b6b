import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { explainPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { explanation, keyOf } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["explain-pull-request"],
  queueSide,
  async ({ input, principal }, app) => {
    const told = await explainPullRequest(app, keyOf(principal.org, input), input.pr.number);
    return told.ok ? ok(explanation(told.value)) : told;
  },
);
