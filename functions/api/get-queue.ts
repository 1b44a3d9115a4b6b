import { queueRoutes } from "../../shared/api/queue-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { getQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queueWithEntries } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(queueRoutes["get-queue"], queueSide, async ({ input, principal }, app) => {
  const found = await getQueue(app, keyOf(principal.org, input));
  return found.ok ? ok(queueWithEntries(found.value.queue, found.value.entries)) : found;
});
