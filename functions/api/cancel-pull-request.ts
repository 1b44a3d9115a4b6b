import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { cancel } from "../../shared/queue/app/wishes.ts";
import { entryPresenter, keyOf, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["cancel-pull-request"],
  queueSide,
  async ({ input, principal, receipt }, app) => {
    const wish = { key: keyOf(principal.org, input), prNumber: input.pr.number, by: principal.tokenName };
    const present = entryPresenter(input.targetBranch);
    const done = await cancel(app, wish, recordedAs(receipt, present));
    return done.ok ? ok(present(done.value)) : done;
  },
);
