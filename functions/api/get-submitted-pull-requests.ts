import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { getPullRequests } from "../../shared/queue/app/pull-requests.ts";
import { entryPresenter, keyOf } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["get-submitted-pull-requests"],
  queueSide,
  async ({ input, principal }, app) => {
    const numbers = [...new Set(input.prs.map((pr) => pr.number))];
    const found = await getPullRequests(app, keyOf(principal.org, input), numbers);
    if (!found.ok) return found;
    const { pullRequests, notFound } = found.value;
    return ok({ pullRequests: pullRequests.map(entryPresenter(input.targetBranch)), notFound });
  },
);
