import { ok } from "../../shared/kernel/result.ts";
import { createQueue } from "../../shared/queue/app/queues.ts";
import { keyOf, queue, recordedAs } from "../present.ts";
import { serve } from "../serve.ts";

export const handler = serve("create-queue", async ({ input, principal, receipt }, app) => {
  const { repo, targetBranch: _, state, ...patch } = input;
  const asked = { key: keyOf(principal.org, input), repo, patch, state, by: principal.tokenName };
  const done = await createQueue(app, asked, recordedAs(receipt, queue));
  return done.ok ? ok(queue(done.value)) : done;
});
