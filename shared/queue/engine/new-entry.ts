import type { Entry, NewEntry } from "./types.ts";

/** A submission before anything happened to it. `closedMs`: how long the queue has admitted nobody so far. */
export const newEntry = (submitted: NewEntry, closedMs: number): Entry => ({
  ...submitted,
  headSha: submitted.pr?.headSha ?? null,
  state: "NOT_READY",
  stateChangedAt: submitted.submittedAt,
  askedAgainFor: null,
  closedMsBefore: closedMs,
  admittedAt: null,
  place: null,
  group: null,
  lane: null,
  comparing: null,
  computedFor: null,
  conflictsWith: null,
  broken: null,
  refusal: null,
  lastRun: null,
  verifiedBy: null,
  firstTestAt: null,
  testedMs: 0,
  restartedAt: [],
  moves: 0,
  endedAt: null,
  conclusion: null,
  asked: {},
});
