import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { fail, ok } from "../../shared/kernel/result.ts";
import { toRfc3339 } from "../../shared/kernel/time.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { uploadAnswer } from "../test-health.ts";

export const handler = serve(testHealthRoutes["get-upload"], healthSide, async ({ input, principal }, app) => {
  const found = await app.health.upload({ org: principal.org, repo: repoKey(input.repo) }, input.upload_id);
  if (found === undefined)
    return fail("UPLOAD_NOT_FOUND", `This repository has no upload "${input.upload_id}", or it is too long ago.`);
  return ok({
    upload_id: found.id,
    state: found.state,
    received_at: toRfc3339(found.receivedAt),
    problem: found.problem,
    answer: found.answer === null ? null : uploadAnswer(found.answer),
  });
});
