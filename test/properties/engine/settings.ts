/** Every combination of what an operator may choose. */
import * as fc from "fast-check";
import type { Settings } from "../../../shared/queue/engine/types.ts";

export const settings: fc.Arbitrary<Partial<Settings>> = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  bisectionConcurrency: fc.integer({ min: 1, max: 4 }),
  retriesBeforeFailure: fc.nat(3),
  testingTimeoutMinutes: fc.constantFrom(0, 30, 300),
  mode: fc.constantFrom("SINGLE" as const, "PARALLEL" as const),
  batch: fc.boolean(),
  batchingMinSize: fc.integer({ min: 1, max: 6 }),
  batchingMaxWaitTimeMinutes: fc.constantFrom(0, 5),
  canOptimisticallyMerge: fc.boolean(),
  pendingFailureDepth: fc.nat(3),
  optimizationMode: fc.constantFrom("OFF" as const, "BISECTION_SKIP_REDUNDANT_TESTS" as const),
  directMergeMode: fc.constantFrom("OFF" as const, "ALWAYS" as const),
});
