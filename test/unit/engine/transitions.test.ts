import { describe, expect, it } from "vitest";
import { isLegal, statesAfter } from "../../../shared/queue/engine/transitions.ts";
import { ENTRY_STATES, type EntryState, REASONS } from "../../../shared/queue/engine/types.ts";

/** Which moves there are, and for which reasons alone; `any` where the reason does not matter. */
const MOVES: Readonly<Record<string, "any" | readonly string[]>> = {
  "new > NOT_READY": "any",
  "NOT_READY > PENDING": "any",
  "NOT_READY > CANCELLED": "any",
  "NOT_READY > MERGED": ["MERGED_BY_HAND"],
  "PENDING > TESTING": "any",
  "PENDING > TESTS_PASSED": "any",
  "PENDING > PENDING_FAILURE": "any",
  "PENDING > NOT_READY": "any",
  "PENDING > MERGED": ["MERGED_BY_HAND", "MERGED_DIRECTLY"],
  "PENDING > FAILED": ["CANNOT_BE_BUILT", "LANDING_REFUSED"],
  "PENDING > CANCELLED": "any",
  "TESTING > TESTS_PASSED": "any",
  "TESTING > PENDING_FAILURE": "any",
  "TESTING > PENDING": "any",
  "TESTING > NOT_READY": "any",
  "TESTING > MERGED": ["MERGED_BY_HAND"],
  "TESTING > CANCELLED": "any",
  "TESTS_PASSED > TESTING": "any",
  "TESTS_PASSED > PENDING_FAILURE": "any",
  "TESTS_PASSED > PENDING": "any",
  "TESTS_PASSED > NOT_READY": "any",
  "TESTS_PASSED > MERGED": ["MERGED", "MERGED_BY_HAND"],
  "TESTS_PASSED > FAILED": ["LANDING_REFUSED"],
  "TESTS_PASSED > CANCELLED": "any",
  "PENDING_FAILURE > TESTS_PASSED": "any",
  "PENDING_FAILURE > TESTING": "any",
  "PENDING_FAILURE > PENDING": "any",
  "PENDING_FAILURE > NOT_READY": "any",
  "PENDING_FAILURE > MERGED": ["MERGED_BY_HAND"],
  "PENDING_FAILURE > FAILED": ["NO_REQUIRED_STATUSES", "TESTING_TIMEOUT", "TESTS_FAILED"],
  "PENDING_FAILURE > CANCELLED": "any",
};

const all = [null, ...ENTRY_STATES].flatMap((from) => ENTRY_STATES.map((to) => ({ from, to })));

describe("the table of states", () => {
  it.each(all)("$from > $to", ({ from, to }) => {
    const allowed = MOVES[`${from ?? "new"} > ${to}`] ?? [];
    const legal = REASONS.filter((reason) => isLegal({ from, to, reason }));
    expect(legal.toSorted()).toEqual(allowed === "any" ? REASONS.toSorted() : allowed);
  });

  it("names what may follow, and after an end nothing", () => {
    const after = (from: EntryState | null): readonly string[] =>
      ENTRY_STATES.filter((to) => `${from ?? "new"} > ${to}` in MOVES).toSorted();
    for (const from of [null, ...ENTRY_STATES]) expect(statesAfter(from).toSorted()).toEqual(after(from));
  });
});
