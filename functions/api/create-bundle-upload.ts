import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { announceBundle } from "../../shared/test-health/app/announce.ts";
import { withBucket } from "../bucket.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf } from "../test-health.ts";

export const handler = serve(
  testHealthRoutes["create-bundle-upload"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, { repo: input.repo, org_url_slug: input.orgUrlSlug });
    if (!of.ok) return of;
    const { id, url, key } = await announceBundle(app, of.value);
    return ok({ id, idV2: id, url, key });
  },
  withBucket,
);
