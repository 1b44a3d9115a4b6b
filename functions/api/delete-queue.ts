import { ok } from "../../shared/kernel/result.ts";
import { deleteQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queue, recordedAs } from "../present.ts";
import { serve } from "../serve.ts";

export const handler = serve("delete-queue", async ({ input, principal, receipt }, app) => {
  const done = await deleteQueue(app, keyOf(principal.org, input), recordedAs(receipt, queue));
  return done.ok ? ok(queue(done.value)) : done;
});
