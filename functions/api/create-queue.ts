import { queueRoutes } from "../../shared/api/queue-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { createQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queue, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(queueRoutes["create-queue"], queueSide, async ({ input, principal, receipt }, app) => {
  const { repo, targetBranch: _, state, ...patch } = input;
  const asked = { key: keyOf(principal.org, input), repo, patch, state, by: principal.tokenName };
  const done = await createQueue(app, asked, recordedAs(receipt, queue));
  return done.ok ? ok(queue(done.value)) : done;
});
