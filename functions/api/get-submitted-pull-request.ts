import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { getPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { keyOf, pullRequest } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["get-submitted-pull-request"],
  queueSide,
  async ({ input, principal }, app) => {
    const found = await getPullRequest(app, keyOf(principal.org, input), input.pr, input.includeTimeline ?? false);
    return found.ok ? ok(pullRequest(input.targetBranch, found.value)) : found;
  },
);
