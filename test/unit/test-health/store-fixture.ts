/** Test health on a real table, with a clock of the test's. Holds no assertions. */
import { type Log, silentLog } from "../../../shared/kernel/log.ts";
import { noWaiting } from "../../support/waiting.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { DAY_MS, type EpochMs, epochMs } from "../../../shared/kernel/time.ts";
import type { Table } from "../../../shared/table/client.ts";
import { healthStore } from "../../../shared/table/health-store.ts";
import type { HealthApp, HealthStore, Repository, UploadAnswer } from "../../../shared/test-health/app/ports.ts";
import { type SentFacts, takeResults } from "../../../shared/test-health/app/upload.ts";

/** A Tuesday, at noon. */
export const NOON = epochMs(Date.UTC(2026, 2, 10, 12));
export const days = (count: number): number => count * DAY_MS;

export const aRepositoryOf = (name = "app", org = "acme"): Repository => ({
  org: orgSlug(org),
  repo: { host: "git.local", owner: "acme", name },
});

/** Names of tests that passed, failed, failed and then passed, were skipped. */
export type Outcomes = {
  readonly passed?: readonly string[];
  readonly failed?: readonly string[];
  readonly retried?: readonly string[];
  readonly skipped?: readonly string[];
  /** What each failure says. */
  readonly saying?: string;
};

const caseOf = (name: string, inside = ""): string => `<testcase classname="c" name="${name}">${inside}</testcase>`;

export function junit({ passed = [], failed = [], retried = [], skipped = [], saying = "it broke" }: Outcomes): string {
  const failure = `<failure message="${saying}"/>`;
  const cases = [
    ...passed.map((name) => caseOf(name)),
    ...failed.map((name) => caseOf(name, failure)),
    ...retried.flatMap((name) => [caseOf(name, failure), caseOf(name)]),
    ...skipped.map((name) => caseOf(name, "<skipped/>")),
  ];
  return `<testsuites><testsuite name="s" file="src/a.test.ts">${cases.join("")}</testsuite></testsuites>`;
}

export type TestHealth = {
  readonly app: HealthApp;
  readonly repository: Repository;
  readonly now: () => EpochMs;
  readonly passes: (ms: number) => void;
  /** Uploads a file, and answers what the sender is told. */
  readonly takes: (what: Outcomes | string, facts?: Partial<SentFacts>) => Promise<UploadAnswer>;
  /** The same with another store, or another log, in place of the real one. */
  readonly with: (change: { readonly health?: HealthStore; readonly log?: Log }) => TestHealth;
};

const FACTS: SentFacts = {
  sha: "a".repeat(40),
  branch: "main",
  pullRequests: [],
  variant: "",
  job: "unit",
  attempt: 1,
  at: null,
  runUrl: null,
  isMergeQueue: false,
  testRun: null,
};

export function testHealth(table: Table, repository = aRepositoryOf(), from = NOON): TestHealth {
  let time: number = from;
  const clock = (): EpochMs => epochMs(time);
  const over = (app: HealthApp): TestHealth => ({
    app,
    repository,
    now: clock,
    passes: (ms) => {
      time += ms;
    },
    takes: async (what, facts = {}) => {
      const bytes = Buffer.from(typeof what === "string" ? what : junit(what));
      const taken = await takeResults(app, repository, { ...FACTS, ...facts }, bytes);
      if (!taken.ok) throw new Error(taken.fault.message);
      return taken.value;
    },
    with: (change) => over({ ...app, ...change }),
  });
  return over({ health: healthStore(table, clock), clock, waiting: noWaiting(), newId: () => "id", log: silentLog });
}

/** What is read of it as if each were read by a process of its own: nothing is remembered. */
export const fresh = (table: Table, { now }: TestHealth): HealthStore => healthStore(table, now);

/** The class of error that a store throws here when it is made to. */
export class Killed extends Error {
  override readonly name = "Killed";
}

const WRITES = new Set(["PutCommand", "UpdateCommand", "DeleteCommand", "TransactWriteCommand", "BatchWriteCommand"]);

/** The same table, which makes so many writes and throws at all later ones, as when the process ends there. */
export function dyingAfter(table: Table, writes: number): { readonly table: Table; readonly made: () => number } {
  let made = 0;
  const client = new Proxy(table.client, {
    get: (target, name) => {
      const send: unknown = Reflect.get(target, name);
      if (name !== "send" || typeof send !== "function") return send;
      return async (command: { readonly constructor: { readonly name: string } }) => {
        if (WRITES.has(command.constructor.name)) {
          if (made >= writes) throw new Killed();
          made += 1;
        }
        return Reflect.apply(send, target, [command]);
      };
    },
  });
  return { table: { ...table, client }, made: () => made };
}
