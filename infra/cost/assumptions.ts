/** What a month is made of, beside what is counted: how often things happen, and how long they take there. */

export const MINUTES = 43_200;

/** For each merged pull request. */
export const PER_PULL_REQUEST = {
  /** Its commits that CI tests, and the jobs of each that send a JUnit file; runs of the queue included. */
  uploads: 6,
  testsPerUpload: 1_000,
  /** One test of every fifth upload fails. */
  failingUploads: 0.2,
  /** CI and people who look how far it is. */
  reads: 10,
  /** Reports of checks per test run. */
  reports: 4,
  impactedTargets: 20,
} as const;

/** Prometheus, once a minute. */
export const SCRAPES = MINUTES;

/** From the submission to the landing; what is in the queue at a time follows from it. */
export const MINUTES_IN_QUEUE = 40;

/**
 * Milliseconds of a warm call and its share of cold ones, as far as nothing is known of it from here: a call of the table
 * takes some milliseconds there, a code host some hundred. What reads a lot takes longer by so much for each MB.
 */
export const MS = {
  request: 60,
  authorizer: 15,
  advance: 120,
  effect: 400,
  minute: 100,
  perMbRead: 80,
} as const;

/** Of the access log and the function's own line; and of a worker that has something to say. */
export const LOG_BYTES = { request: 1_100, worker: 300 } as const;

/** The table after so many months of the same. Uploads, and what is told of tests, are gone after 45 days. */
export const KEPT_MONTHS = 12;

/** Of all sets of targets: too large for the table. */
export const LARGE_SETS = 0.01;
/** Answers, on average. */
export const ANSWER_BYTES = 2_000;
