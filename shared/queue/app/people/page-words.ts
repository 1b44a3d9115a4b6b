import type { CheckShown } from "../../../code-host/people.ts";
import type { EntryState } from "../../engine/types.ts";

type Words = {
  readonly label: string;
  readonly check: CheckShown["state"];
  /** Of the check, and of the comment. */
  readonly title: string;
  /** What follows; empty where it is said in another way. */
  readonly next: string;
};

/** What people see of each state. */
export const WORDS: Readonly<Record<EntryState, Words>> = {
  NOT_READY: {
    label: "merge-queue: not ready",
    check: "QUEUED",
    title: "Not ready yet",
    next: "It is admitted by itself as soon as nothing is missing.",
  },
  PENDING: {
    label: "merge-queue: pending",
    check: "QUEUED",
    title: "Waits to be tested",
    next: "It is tested when its turn comes.",
  },
  TESTING: {
    label: "merge-queue: testing",
    check: "IN_PROGRESS",
    title: "Being tested",
    next: "If that passes, it lands after those ahead of it.",
  },
  TESTS_PASSED: {
    label: "merge-queue: tests passed",
    check: "IN_PROGRESS",
    title: "Passed, and waits to land",
    next: "It lands when those ahead of it have landed, or have left the queue.",
  },
  PENDING_FAILURE: {
    label: "merge-queue: pending failure",
    check: "IN_PROGRESS",
    title: "Failed, and is not judged yet",
    next: "Whether the failure is its own shows when those ahead of it are settled and what failed has run again.",
  },
  MERGED: { label: "merge-queue: merged", check: "SUCCESS", title: "Merged", next: "" },
  FAILED: { label: "merge-queue: failed", check: "FAILURE", title: "Failed, and was not merged", next: "" },
  CANCELLED: { label: "merge-queue: cancelled", check: "NEUTRAL", title: "Cancelled, and was not merged", next: "" },
};

export const STATE_LABELS: readonly string[] = Object.values(WORDS).map((one) => one.label);
