import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import { commitSha } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { toRfc3339 } from "../../shared/kernel/time.ts";
import { grantUpload } from "../../shared/queue/app/uploads.ts";
import { withBucket } from "../bucket.ts";
import { keyOf } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  pullRequestRoutes["create-impacted-targets-upload"],
  queueSide,
  async ({ input, principal }, app) => {
    const { number, sha } = input.pr;
    const granted = await grantUpload(app, { key: keyOf(principal.org, input), prNumber: number, sha: commitSha(sha) });
    return granted.ok ? ok({ ...granted.value, expiresAt: toRfc3339(granted.value.expiresAt) }) : granted;
  },
  withBucket,
);
