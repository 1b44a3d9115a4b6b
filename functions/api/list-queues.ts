import { queueRoutes } from "../../shared/api/queue-routes.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { listQueues } from "../../shared/queue/app/queues.ts";
import { queue } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(queueRoutes["list-queues"], queueSide, async ({ input, principal }, app) => {
  const found = await listQueues(app, principal.org, input.repo && repoKey(input.repo));
  return ok({ queues: found.value.map(queue) });
});
