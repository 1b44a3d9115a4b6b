/** Who wrote a file, as far as it matters: these leave out the attempts before the last one unless told otherwise. */
import type { Attributes } from "./elements.ts";

export type Producer = "vitest" | "jest" | "mocha" | "pytest" | "playwright";

const BY_ROOT: ReadonlyMap<string, Producer> = new Map([
  ["vitest tests", "vitest"],
  ["jest tests", "jest"],
  ["Mocha Tests", "mocha"],
]);

const BY_SUITE: ReadonlyMap<string, Producer> = new Map([
  ["pytest", "pytest"],
  ["Mocha Tests", "mocha"],
]);

const SCRIPT = /\.[cm]?[jt]sx?$/u;

/** By the outermost suite and what stands around it, `null` where nothing does. */
export function producerOf(root: Attributes | null, suite: Attributes): Producer | null {
  const known = BY_ROOT.get(root?.name ?? "") ?? BY_SUITE.get(suite.name ?? "");
  if (known !== undefined) return known;
  // Playwright names neither itself nor anything after itself; nobody else gives the root an id and scripts as suites.
  const isPlaywright =
    root?.id !== undefined && suite.id === undefined && suite.hostname !== undefined && SCRIPT.test(suite.name ?? "");
  return isPlaywright ? "playwright" : null;
}

const HIDDEN: Readonly<Record<Producer, string>> = {
  vitest: "Vitest's JUnit reporter writes the last attempt alone, and has no setting for the others: set `retry: 0`",
  jest: "jest-junit leaves out attempts that were retried: call `jest.retryTimes(0)` where the tests run for this",
  mocha: "Mocha's JUnit reporters write the last attempt alone, and have no setting for the others: set `retries: 0`",
  pytest: "pytest's JUnit file leaves out what pytest-rerunfailures ran before the last attempt: run with `--reruns 0`",
  playwright:
    "Playwright writes the last attempt alone: set `['junit', { includeRetries: true }]` as its reporter in its configuration",
};

/** A sentence for a file in which there are no attempts. */
export const hiddenRetries = (producer: Producer): string =>
  `If tests are retried, this file does not show it. ${HIDDEN[producer]}.`;
