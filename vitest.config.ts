import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/seed.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On two cores: the end-to-end files start servers and git processes of their own, and wait for them most of the time.
    maxWorkers: 3,
    pool: "forks",
  },
});
