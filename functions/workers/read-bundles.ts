/** Every minute (locally every few seconds): reads the bundles of test results that have come. */
import { readBundles } from "../../shared/test-health/app/bundles.ts";
import { withBucket } from "../bucket.ts";
import { healthSide } from "../health-side.ts";
import { work } from "../work.ts";

export const handler = work(healthSide, readBundles, withBucket);
