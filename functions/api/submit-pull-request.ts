import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import { entryPresenter, keyOf, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";
import { withGitHub } from "../with-github.ts";

export const handler = serve(
  pullRequestRoutes["submit-pull-request"],
  queueSide,
  async ({ input, principal, receipt }, app) => {
    const { priority, noBatch, targetBranch } = input;
    const asked = { key: keyOf(principal.org, input), prNumber: input.pr.number, priority, noBatch };
    const present = entryPresenter(targetBranch);
    const done = await submit(app, { ...asked, by: principal.tokenName }, recordedAs(receipt, present));
    return done.ok ? ok(present(done.value)) : done;
  },
  withGitHub(),
);
