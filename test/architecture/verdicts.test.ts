/** What a test says depends neither on how fast the machine is nor, in silence, on what is installed there. */
import { expect, test } from "vitest";
import { sourcesUnder } from "./source.ts";

const CLOCK = String.raw`(?:performance\.now|Date\.now|process\.cpuUsage|process\.hrtime(?:\.bigint)?)\(`;
const LIMIT = String.raw`\.toBeLessThan(?:OrEqual)?\(`;

const FORBIDDEN = {
  // `context.skip(!isThere, "why")` shows its reason in the last lines of a run; a condition shows nothing.
  "a skip without a reason":
    /\.(?:skipIf|runIf)\(|\b(?:context|ctx)\.skip\(\s*\)|\b(?:test|it|describe)\.(?:skip|todo)\(/u,
  // From the clock that is read to a limit within the same statement.
  "a duration held against a limit": new RegExp(`expect\\([^;]*${CLOCK}[^;]*-[^;]*${LIMIT}|withinMs`, "u"),
  // Of a test, a hook or a poll: vitest.config.ts has the only one, which ends what hangs.
  "a limit in milliseconds": /\b(?:timeout|WAIT_MS): ?[\d_]+\b|^\s*\},\s*[\d_]{4,}\);$/mu,
} as const;

/** One sentence for each file. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "test/simulation/simulation.world.test.ts": "Fifty seeds take longer than what ends other tests that hang.",
  "test/simulation/scenarios/scenarios.world.test.ts": "So do all stories with all troubles.",
  "test/unit/junit/reporters.test.ts": "It writes a test file for other runners, with a test that they skip.",
  "test/unit/local/stream-storage.test.ts": "SQLite waits so long for a lock.",
  "test/hostile/table-door.test.ts": "A probe of a port that says nothing goes on to the next.",
};

test("no test compares durations, has a deadline of its own or is skipped without a reason", () => {
  const found = sourcesUnder("test")
    .filter(({ path }) => EXCEPTIONS[path] === undefined && path !== "test/architecture/verdicts.test.ts")
    .flatMap(({ path, text }) =>
      Object.entries(FORBIDDEN).flatMap(([what, how]) => (how.test(text) ? [`${path}: ${what}`] : [])),
    );
  expect(found).toEqual([]);
  const paths = sourcesUnder("test").map(({ path }) => path);
  expect(Object.keys(EXCEPTIONS).filter((path) => !paths.includes(path))).toEqual([]);
});
