import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes long comes last: a mutant is done with at the first test that notices it. */
const LAST = [
  "/unit/engine/damaged",
  "/unit/engine/scale",
  "/unit/engine/bounds",
  "/properties/engine/garbage",
  "/properties/engine/calm",
  "/properties/engine/world",
];
const rank = ({ moduleId }: TestSpecification): number => LAST.findIndex((name) => moduleId.includes(name));

class QuickFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

export default defineConfig({
  test: {
    include: ["test/unit/engine/**/*.test.ts", "test/properties/engine/**/*.test.ts"],
    // The same properties with more runs, which cost each mutant more than they notice.
    exclude: ["test/**/*.slow.test.ts"],
    setupFiles: ["test/mutation/setup.ts"],
    env: { PROPERTY_RUNS: "40" },
    sequence: { sequencer: QuickFirst },
    // One process for all files of one mutant: starting them takes longer than most of the tests.
    pool: "threads",
    isolate: false,
    testTimeout: 60_000,
  },
});
