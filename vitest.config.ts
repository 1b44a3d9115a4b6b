import { defineConfig } from "vitest/config";

/** Needs minutes, or a machine of its own: `npm run test:slow`. */
const SLOW = "test/**/*.slow.test.ts";
/** Needs a world: a thousand seeds, a browser, other people's servers. `npm run test:world`, before a release. */
const WORLD = "test/**/*.world.test.ts";

export default defineConfig({
  test: {
    globalSetup: ["test/support/run-folder.ts"],
    setupFiles: ["test/support/seed.ts"],
    reporters: ["default", "./test/support/closing-lines.ts"],
    // Ends what hangs. No verdict depends on it: whatever is waited for gives up long before, when it stands still.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    pool: "forks",
    // On two cores: what starts processes waits for them part of the time.
    maxWorkers: 4,
    unstubGlobals: true,
    projects: [
      {
        extends: true,
        // Half a second a file is saved where the files of a worker share their modules; they share no state.
        test: { name: "quick", include: ["test/**/*.test.ts"], exclude: [SLOW, WORLD], isolate: false },
      },
      { extends: true, test: { name: "slow", include: [SLOW] } },
      { extends: true, test: { name: "world", include: [WORLD] } },
    ],
  },
});
