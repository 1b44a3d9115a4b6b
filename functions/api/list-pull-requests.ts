import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { listPullRequests } from "../../shared/queue/app/pull-requests.ts";
import { entryPresenter, keyOf } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(pullRequestRoutes["list-pull-requests"], queueSide, async ({ input, principal }, app) => {
  const found = await listPullRequests(app, keyOf(principal.org, input), input);
  if (!found.ok) return found;
  const { nextCursor } = found.value;
  const pullRequests = found.value.pullRequests.map(entryPresenter(input.targetBranch));
  return ok({ pullRequests, ...(nextCursor === undefined ? {} : { nextCursor }) });
});
