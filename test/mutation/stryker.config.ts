import { readdirSync } from "node:fs";

/**
 * Every small change to the engine is to be noticed by a test of the engine: `npm run mutation`. What was found before
 * is kept in `incrementalFile`, so that only what changed since is tried again; `-- --force` tries all,
 * `-- --file order.ts` one file. Below the goal the command fails.
 *
 * What is left out, and why:
 * - `types.ts` holds types and the closed lists of names; nothing in it is decided.
 * - Texts with a blank in them (`sentences.ts`) are for people. Tests of explanations look at those that matter, and
 *   an empty one would show there; each single wording is nobody's promise.
 *
 * Nothing is left out by mutator, and nothing by a comment in the source.
 */
export const ENGINE = "shared/queue/engine";
export const FILES = readdirSync(ENGINE).filter((name) => name.endsWith(".ts") && name !== "types.ts");

/** Set where one file of several is tried: the goal is one for all of them. */
export const PART = "MUTATION_PART";
const isPart = process.env[PART] !== undefined;

export default {
  mutate: FILES.map((name) => `${ENGINE}/${name}`),
  ignorers: ["sentences"],
  plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/sentences.ts"],
  testRunner: "vitest",
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 2,
  // The compiler's options are kept away: what reads them here does not know this TypeScript. Nor does its checker.
  ignorePatterns: ["**", "!package.json", "!shared/**", "!test/**"],
  incremental: true,
  incrementalFile: "node_modules/.cache/mutation/incremental.json",
  reporters: ["progress-append-only", ...(isPart ? [] : ["clear-text", "html", "json"])],
  clearTextReporter: { allowColor: false, logTests: false },
  htmlReporter: { fileName: "node_modules/.cache/mutation/report.html" },
  jsonReporter: { fileName: "node_modules/.cache/mutation/report.json" },
  thresholds: { high: 95, low: 90, break: isPart ? null : 90 },
};
