/** Every minute (locally every few seconds): reads the bundles of test results that have come. */
import { readBundles } from "../../shared/test-health/app/bundles.ts";
import { wiring } from "../wiring.ts";

export const handler = (): Promise<void> => readBundles(wiring());
