import { queueRoutes } from "../../shared/api/queue-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { updateQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queue, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(queueRoutes["update-queue"], queueSide, async ({ input, principal, receipt }, app) => {
  const { repo: _r, targetBranch: _t, state, reason, allowUrgent, clearHold, deleteRequiredStatuses, ...patch } = input;
  const change = { patch, state, reason, allowUrgent, clearHold, deleteRequiredStatuses };
  const asked = { key: keyOf(principal.org, input), ...change, by: principal.tokenName };
  const done = await updateQueue(app, asked, recordedAs(receipt, queue));
  return done.ok ? ok(queue(done.value)) : done;
});
