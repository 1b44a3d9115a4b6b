/**
 * What each function may do with the table and the bucket: exactly what its code does. A test runs all of them through
 * everything that they can meet, and fails for a right that is missing here and for one that nobody used.
 */
import type { RouteId } from "../shared/api/routes.ts";
import { type Needs, NOTHING, type Rights, together } from "./rights.ts";
import type { WorkerName } from "./workers.ts";

/** A request that writes may carry an `Idempotency-Key`. */
const KEYED: Rights = { idempotency: ["PutItem", "GetItem", "UpdateItem", "DeleteItem"] };
/** The queue's settings, and a live entry. */
const FOUND: Rights = { queue: ["GetItem"] };
/** A queue with all that is live in it. */
const VIEWED: Rights = { queue: ["Query"] };
const LISTED: Rights = { ...VIEWED, queues: ["Query"] };
/** The latest submission, live or ended. */
const SUBMISSION: Rights = { queue: ["GetItem"], pullRequest: ["GetItem"] };
const SUBMISSIONS: Rights = { queue: ["GetItem", "BatchGetItem"], pullRequest: ["GetItem", "BatchGetItem"] };
/** A wish on an entry, or an entry itself, with the message that wakes the loop. */
const TOLD: Rights = { queue: ["PutItem"] };
const WINDOW_WRITTEN: Rights = together(LISTED, TOLD, { queue: ["DeleteItem"], wakings: ["PutItem"] });
const TARGETS_KEPT: Rights = { targets: ["PutItem"], targetHashes: ["PutItem"] };

/** The installation on a repository's owner, which repository it is, and what the installation may still ask. */
const CONNECTED: Rights = {
  installations: ["GetItem"],
  githubRepositories: ["GetItem", "PutItem"],
  githubNames: ["PutItem"],
  githubBudget: ["Query", "UpdateItem"],
};
/** What the connection keeps of runs, and of what it merged. */
const ON_GITHUB: Rights = together(CONNECTED, {
  githubRun: ["GetItem", "PutItem"],
  githubStep: ["GetItem", "PutItem"],
});

/** What people see on pull requests' pages, and where it comes from. */
const SHOWN: Rights = together(SUBMISSION, { pullRequest: ["Query", "UpdateItem"], endedRun: ["GetItem"] });
/** A webhook, once, with what it leaves for the queues that it concerns. */
const HEARD: Rights = {
  installation: ["GetItem"],
  githubNames: ["Query"],
  delivery: ["PutItem"],
  queues: ["Query"],
  queue: ["GetItem", "PutItem"],
};

/** What people ask for on a page: submissions and wishes, and that they were done. */
const OBEYED: Rights = together(LISTED, SUBMISSION, TOLD, {
  pullRequest: ["PutItem"],
  branch: ["PutItem"],
  targets: ["GetItem"],
});
/** What they said and no webhook told of. */
const MISSED: Rights = together(LISTED, {
  heardIn: ["GetItem", "PutItem"],
  delivery: ["BatchGetItem", "PutItem"],
});

const SETTINGS: Rights = { testSettings: ["GetItem"] };
/** What uploads say of tests, counted. */
const RESULTS: Rights = together(SETTINGS, {
  testUploads: ["Query"],
  failures: ["Query"],
  testSet: ["GetItem", "BatchGetItem", "Query"],
});
const SOME_TESTS: Rights = { tests: ["GetItem", "BatchGetItem"] };
const ALL_TESTS: Rights = { tests: ["Query"] };
const TEST_CHANGED: Rights = { tests: ["GetItem", "PutItem"] };
const UPLOAD_TAKEN: Rights = together(RESULTS, SOME_TESTS, {
  tests: ["PutItem"],
  testSet: ["PutItem", "UpdateItem"],
  testSetBases: ["GetItem", "PutItem"],
  testUpload: ["GetItem", "PutItem"],
  testUploads: ["PutItem"],
  failures: ["UpdateItem"],
  testsDue: ["PutItem"],
});

const ADVANCED: Rights = together(VIEWED, {
  queue: ["PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"],
  due: ["PutItem", "UpdateItem"],
  branch: ["PutItem"],
  pullRequest: ["PutItem"],
  history: ["PutItem"],
  endedRun: ["PutItem"],
  log: ["PutItem"],
});
const PERFORMED: Rights = together(VIEWED, FOUND, TARGETS_KEPT, RESULTS, SOME_TESTS, {
  queue: ["PutItem", "UpdateItem", "DeleteItem"],
  targets: ["GetItem"],
  targetHashes: ["GetItem", "BatchGetItem"],
  testUpload: ["GetItem"],
});
const DELETED: Rights = together(VIEWED, TOLD, {
  queue: ["DeleteItem"],
  queues: ["DeleteItem"],
  due: ["DeleteItem"],
  wakings: ["PutItem"],
});

const KEPT_TARGETS = ["GetObject", "PutObject"] as const;

export const ENDPOINT_NEEDS: Readonly<Record<RouteId | "unknown-path", Needs>> = {
  "submit-pull-request": {
    table: together(KEYED, SUBMISSION, TOLD, CONNECTED, {
      queue: ["DeleteItem"],
      branch: ["PutItem"],
      targets: ["GetItem"],
    }),
    gitHub: true,
  },
  "cancel-pull-request": { table: together(KEYED, SUBMISSION, TOLD) },
  "restart-tests-on-pull-request": { table: together(KEYED, SUBMISSION, TOLD) },
  "get-submitted-pull-request": { table: together(SUBMISSION, { pullRequest: ["Query"], branch: ["GetItem"] }) },
  "get-submitted-pull-requests": { table: SUBMISSIONS },
  "list-pull-requests": { table: together(VIEWED, { history: ["Query"] }) },
  "set-impacted-targets": {
    table: together(KEYED, FOUND, TOLD, TARGETS_KEPT, CONNECTED, { account: ["GetItem"] }),
    bucket: { uploads: ["GetObject"], targets: ["PutObject"] },
    gitHub: true,
  },
  "create-impacted-targets-upload": { table: together(KEYED, FOUND), bucket: { uploads: ["PutObject"] } },
  "get-merge-queue-testing-details": {
    table: together(VIEWED, SUBMISSIONS, { endedRun: ["GetItem"], targets: ["GetItem"] }),
  },
  "explain-pull-request": {
    table: together(VIEWED, SUBMISSION, { pullRequest: ["Query"], endedRun: ["GetItem"] }),
  },

  "create-queue": { table: together(KEYED, FOUND, TOLD, { queues: ["PutItem"], due: ["PutItem"] }) },
  "get-queue": { table: VIEWED },
  "update-queue": { table: together(KEYED, VIEWED, TOLD) },
  "delete-queue": { table: together(KEYED, DELETED) },
  "list-queues": { table: LISTED },
  "get-merge-queue-metrics": { table: together(LISTED, { history: ["Query"] }) },

  "schedule-maintenance": { table: together(KEYED, WINDOW_WRITTEN) },
  "list-maintenance-windows": { table: LISTED },
  "cancel-maintenance": { table: together(KEYED, WINDOW_WRITTEN, { queue: ["GetItem", "BatchGetItem"] }) },

  "upload-test-results": { table: together(KEYED, UPLOAD_TAKEN, LISTED, { endedRun: ["GetItem"] }) },
  "create-bundle-upload": {
    table: together(KEYED, { bundles: ["PutItem"], testUpload: ["PutItem"] }),
    bucket: { bundles: ["PutObject"] },
  },
  "get-upload": { table: { testUpload: ["GetItem"] } },
  "list-failing-tests": { table: together(RESULTS, CONNECTED, { tests: ["BatchGetItem"] }), gitHub: true },
  "list-unhealthy-tests": { table: together(RESULTS, CONNECTED, ALL_TESTS), gitHub: true },
  "list-quarantined-tests": { table: together(RESULTS, CONNECTED, ALL_TESTS), gitHub: true },
  "get-test-details": { table: together(RESULTS, CONNECTED, { tests: ["GetItem"] }), gitHub: true },
  "get-quarantine-config": { table: together(SETTINGS, SOME_TESTS) },
  "set-quarantine": { table: together(KEYED, TEST_CHANGED) },
  "link-ticket-to-test-case": { table: together(KEYED, TEST_CHANGED, SETTINGS) },
  "get-test-health-settings": { table: SETTINGS },
  "update-test-health-settings": {
    table: together(KEYED, SETTINGS, { testSettings: ["PutItem"], testsDue: ["PutItem"] }),
  },

  "receive-github-webhook": { table: HEARD, gitHub: true },
  "get-status": NOTHING,
  "get-open-api": NOTHING,
  "unknown-path": NOTHING,
};

export const WORKER_NEEDS: Readonly<Record<WorkerName, Needs>> = {
  "authorize-token": { table: { tokenByHash: ["GetItem"], tokens: ["GetItem"] } },
  "advance-queue": { table: ADVANCED },
  "run-effects": {
    table: together(PERFORMED, ON_GITHUB, SHOWN, OBEYED),
    bucket: { targets: KEPT_TARGETS },
    gitHub: true,
  },
  sweep: {
    table: together(ADVANCED, PERFORMED, ON_GITHUB, SHOWN, OBEYED, MISSED, DELETED, {
      due: ["Query"],
      wakings: ["Query", "DeleteItem"],
    }),
    bucket: { targets: KEPT_TARGETS },
    gitHub: true,
    schedules: true,
  },
  "judge-tests": {
    table: together(RESULTS, ALL_TESTS, TEST_CHANGED, { testsDue: ["Query", "PutItem", "DeleteItem"] }),
  },
  "read-bundles": {
    table: together(UPLOAD_TAKEN, { testSettings: ["PutItem"], bundles: ["Query", "PutItem", "DeleteItem"] }),
    bucket: { bundles: ["GetObject", "DeleteObject"] },
  },
  "maintenance-window": { table: together(WINDOW_WRITTEN, { due: ["Query"] }) },
};

const ALL: ReadonlyMap<string, Needs> = new Map([...Object.entries(ENDPOINT_NEEDS), ...Object.entries(WORKER_NEEDS)]);

/** A function of which nothing is said here is not deployed. */
export function needsOf(name: string): Needs {
  const needs = ALL.get(name);
  if (needs === undefined) throw new Error(`infra/needs.ts does not say what ${name} needs`);
  return needs;
}
