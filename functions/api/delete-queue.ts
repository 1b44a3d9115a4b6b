import { queueRoutes } from "../../shared/api/queue-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { deleteQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queue, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(queueRoutes["delete-queue"], queueSide, async ({ input, principal, receipt }, app) => {
  const done = await deleteQueue(app, keyOf(principal.org, input), recordedAs(receipt, queue));
  return done.ok ? ok(queue(done.value)) : done;
});
