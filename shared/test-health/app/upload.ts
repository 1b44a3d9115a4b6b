/** A file of test results comes in: read, kept, judged, and answered with what a CI step can go by. */
import { createHash } from "node:crypto";
import type { OrgSlug, RepoKey } from "../../kernel/ids.ts";
import { fail, ok, type Result } from "../../kernel/result.ts";
import { type EpochMs, epochMs, later, MINUTE_MS, SECOND_MS } from "../../kernel/time.ts";
import { readJUnit } from "../junit/read.ts";
import type { Report } from "../junit/report.ts";
import { type TestResult, testsOf } from "../junit/tests.ts";
import { type Fingerprint, fingerprintKeyOf } from "./fingerprint-key.ts";
import { type Results, resultsOf } from "./figures.ts";
import { testIdOf } from "./identity.ts";
import { change, HEALTHY_REASON, HISTORY_MS, judged, setsOf, statusOf, verdictOn } from "./judge.ts";
import { judgeOutage } from "./outages.ts";
import type {
  Failure,
  HealthApp,
  Repository,
  RunFacts,
  Summary,
  TestRecord,
  TestSet,
  UploadAnswer,
  UploadEntry,
} from "./ports.ts";
import { isDefaultBranch, isQuarantined, type RepositorySettings } from "./settings.ts";

const SUMMARIES_MAX = 20;
const EXAMPLE_CHARACTERS_MAX = 2_000;
const NAME_CHARACTERS_MAX = 1_000;
/** Longer ago than that, or in the future, is a clock that is wrong. */
const LATE_MS_MAX = 30 * 24 * 60 * MINUTE_MS;
/** Of the quarantined tests that an answer names: it is kept, and an item holds 400 KB. */
const NAMED_MAX = 5_000;
/** The repository is looked at when the upload is there for certain, or when its writer is dead for certain. */
const DUE_AFTER_MS = 5 * SECOND_MS;

/** Of the facts, those that the sender may leave out. */
export type SentFacts = Omit<RunFacts, "at"> & { readonly at: EpochMs | null };

/** One test of the file, under its id. */
type Read = { readonly id: string; readonly result: TestResult; readonly variant: string };

type Taken = Result<UploadAnswer, "INVALID_REQUEST">;

/**
 * Takes one file. The same file of the same run counts once, however often it comes: its id is made of both, the first
 * to come says when it ran, and what was written of it before is written again as it was. Its entry in the list of
 * uploads comes last; nothing counts before.
 */
export async function takeResults(
  app: HealthApp,
  repository: Repository,
  sent: SentFacts,
  bytes: Uint8Array,
  written: RepoKey = repository.repo,
): Promise<Taken> {
  const { health, clock } = app;
  const report = readJUnit(bytes);
  if (report.kind === "REFUSED") {
    const issues = report.issues.map(({ line, column, message }) => ({ path: `body:${line}:${column}`, message }));
    return fail("INVALID_REQUEST", report.what, { issues });
  }
  const now = clock();
  const uploadId = uploadIdOf(repository, sent, bytes);
  const known = await health.claimUpload(repository, {
    id: uploadId,
    receivedAt: now,
    state: "WAITING",
    problem: null,
    facts: { ...sent, at: ranAt(sent.at, report.startedAt, now) },
    answer: null,
  });
  if (known.state === "PROCESSED" && known.answer !== null) return ok(known.answer);
  const { receivedAt } = known;
  const facts: RunFacts = known.facts ?? { ...sent, at: receivedAt };

  const settings = await health.settings(repository);
  const tests = identified(repository.org, written, facts, report.cases);
  const executed = tests.filter(({ result }) => result.attempts.length > 0);
  const failed = executed.filter(({ result }) => result.attempts.some((attempt) => attempt.outcome !== "PASSED"));
  const since = epochMs(Math.max(0, facts.at - HISTORY_MS));
  const [digest, uploads] = await Promise.all([
    health.keepSet(
      repository,
      `${facts.job}\n${facts.variant}`,
      executed.map(({ id }) => id),
    ),
    health.uploads(repository, since, later(now, 1), true),
    health.markDue(repository, later(now, DUE_AFTER_MS)),
  ]);
  const entry = entryOf(uploadId, facts, receivedAt, settings, uploads, digest, executed, failed);
  const found = failed.map((one) => failureOf(one, entry, facts));
  const results = await resultsWith(app, repository, [...uploads.filter(({ id }) => id !== uploadId), entry], found);
  const records = await judgeFailed(app, repository, settings, results, found, entry);

  const quarantined = (id: string): boolean => {
    const record = records.get(id);
    return record !== undefined && isQuarantined(settings, record.setting, statusOf(record));
  };
  const failing = failed.filter(({ result }) => hasFailed(result)).map(({ id }) => id);
  await health.putFailures(
    repository,
    found.map(({ failure }) => ({ ...failure, wasQuarantined: quarantined(failure.test) })),
  );
  const answer: UploadAnswer = {
    uploadId,
    ...report.counts,
    issues: report.issues,
    quarantined: failing.filter(quarantined).slice(0, NAMED_MAX),
    verdict: failing.every(quarantined) ? "PASS" : "FAIL",
  };
  // It counts from now on: a list that somebody pages through since before is to stay without it.
  const listedAt = clock();
  await health.putUpload(
    repository,
    { ...entry, receivedAt: listedAt },
    { ...known, state: "PROCESSED", facts, answer },
  );
  await health.markDue(repository, listedAt);
  return ok(answer);
}

/** The sender's word, else the file's, if it can be believed, else now. */
function ranAt(sent: EpochMs | null, written: number | null, now: EpochMs): EpochMs {
  const believed = [sent, written].find((at) => at !== null && at <= now + MINUTE_MS && at >= now - LATE_MS_MAX);
  return epochMs(Math.min(believed ?? now, now));
}

const uploadIdOf = ({ org, repo }: Repository, facts: SentFacts, bytes: Uint8Array): string =>
  createHash("sha256")
    .update(JSON.stringify([org, repo.host, repo.owner, repo.name, factsInOrder(facts)]))
    .update(bytes)
    .digest("hex")
    .slice(0, 24);

const factsInOrder = (facts: SentFacts): readonly unknown[] => {
  const { sha, branch, pullRequests, variant, job, attempt, at, runUrl, isMergeQueue, testRun } = facts;
  return [sha, branch, pullRequests, variant, job, attempt, at, runUrl, isMergeQueue, testRun];
};

/** Each test of the file once, under its id, with all its attempts. */
function identified(org: OrgSlug, repo: RepoKey, facts: RunFacts, cases: ReportCases): readonly Read[] {
  const name = `${repo.host}/${repo.owner}/${repo.name}`;
  const found = new Map<string, Read>();
  for (const result of testsOf(cases)) {
    const variant = facts.variant === "" ? result.variant : facts.variant;
    const id = testIdOf({ ...result, org, repo: name, variant });
    const known = found.get(id);
    // With a variant of the sender's, what differed only by the file's own variant is one test.
    const attempts = known === undefined ? result.attempts : [...known.result.attempts, ...result.attempts];
    found.set(id, { id, variant, result: { ...result, attempts } });
  }
  return [...found.values()];
}

type ReportCases = Extract<Report, { kind: "READ" }>["cases"];

/** What it came to in the end: an attempt that failed before one that passed is a flake, and no failure. */
const hasFailed = ({ attempts }: TestResult): boolean => attempts.at(-1)?.outcome !== "PASSED";

function entryOf(
  id: string,
  facts: RunFacts,
  receivedAt: EpochMs,
  settings: RepositorySettings,
  uploads: readonly UploadEntry[],
  executedSet: string,
  executed: readonly Read[],
  failed: readonly Read[],
): UploadEntry {
  const { sha, branch, job, at, testRun } = facts;
  const entry = {
    id,
    sha,
    branch,
    job: facts.variant === "" ? job : `${job} ${facts.variant}`,
    at,
    testRun,
    receivedAt,
    isDefaultBranch: isDefaultBranch(settings, branch),
    executed: executedSet,
    tests: executed.length,
    failed: failed.length,
    failing: failed.filter(({ result }) => hasFailed(result)).length,
  };
  return judgeOutage(entry, uploads);
}

type Found = {
  readonly failure: Failure;
  readonly read: Read;
  readonly fingerprint: Fingerprint;
  readonly example: string;
};

function failureOf(read: Read, { id, at }: UploadEntry, { pullRequests }: RunFacts): Found {
  const { attempts } = read.result;
  const failed = attempts.filter((attempt) => attempt.outcome !== "PASSED");
  const text = failed.at(-1)?.failure ?? { type: null, message: null, text: null };
  const fingerprint = fingerprintKeyOf(text);
  const failure: Failure = {
    test: read.id,
    upload: id,
    at,
    passed: attempts.length - failed.length,
    failed: failed.length,
    summary: fingerprint.key,
    pullRequests,
    wasQuarantined: false,
  };
  const example = (text.text ?? text.message ?? text.type ?? "").slice(0, EXAMPLE_CHARACTERS_MAX);
  return { failure, read, fingerprint, example };
}

/** The history of the tests that failed, with this upload in it. */
async function resultsWith(
  { health }: HealthApp,
  repository: Repository,
  uploads: readonly UploadEntry[],
  found: readonly Found[],
): Promise<Results> {
  if (found.length === 0) return resultsOf([], new Map<string, TestSet>(), []);
  const inOrder = uploads.toSorted((a, b) => a.at - b.at || compare(a.id, b.id));
  const [first = 0, last = 0] = [inOrder[0]?.at, inOrder.at(-1)?.at];
  const tests = found.map(({ failure }) => failure.test);
  // Many tests are read quicker as a whole.
  const some = tests.length <= MANY ? tests : undefined;
  const [before, sets] = await Promise.all([
    health.failures(repository, epochMs(first), epochMs(last + 1), some, true),
    setsOf(health, repository, uploads),
  ]);
  const present = new Set(found.map(({ failure }) => failure.upload));
  const all = [...before.filter((one) => !present.has(one.upload)), ...found.map(({ failure }) => failure)];
  return resultsOf(inOrder, sets, all);
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const MANY = 30;

/** Judges and keeps each test that failed in this upload. */
async function judgeFailed(
  app: HealthApp,
  repository: Repository,
  settings: RepositorySettings,
  results: Results,
  found: readonly Found[],
  entry: UploadEntry,
): Promise<ReadonlyMap<string, TestRecord>> {
  const kept = new Map<string, TestRecord>();
  const left = [...found];
  const now = app.clock();
  const seen = await app.health.tests(
    repository,
    found.map(({ read }) => read.id),
  );
  const work = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { read } = one;
      const make = (present: TestRecord): TestRecord => {
        const verdict = verdictOn(results, settings.rules, present, now);
        const next = withFailure(judged(present, verdict, now, entry.id), one, entry.at);
        kept.set(read.id, next);
        return next;
      };
      const absent = newRecord(read);
      await change(app, repository, read.id, make, absent, seen.get(read.id) ?? absent);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, work));
  return kept;
}

const AT_ONCE = 16;

/** @param read whose names are cut: they are for showing, the id is made of the whole */
export const newRecord = ({ id, result, variant }: Read): TestRecord => ({
  id,
  name: result.name.slice(0, NAME_CHARACTERS_MAX),
  classname: result.classname.slice(0, NAME_CHARACTERS_MAX),
  parent: result.parent.slice(0, NAME_CHARACTERS_MAX),
  file: result.file.slice(0, NAME_CHARACTERS_MAX),
  variant: variant.slice(0, NAME_CHARACTERS_MAX),
  firstFailedAt: null,
  lastFailedAt: null,
  reason: HEALTHY_REASON,
  transitions: [],
  evidence: [],
  revisitAt: null,
  setting: "UNSPECIFIED",
  settingAt: null,
  ticket: null,
  summaries: [],
  revision: 0,
});

function withFailure(record: TestRecord, { fingerprint, example }: Found, at: EpochMs): TestRecord {
  const { key, summary: text } = fingerprint;
  const known = record.summaries.find((one) => one.key === key);
  const isLatest = known === undefined || at >= known.lastAt;
  const summary: Summary = { key, text, ...(isLatest ? { example, lastAt: at } : known) };
  const others = record.summaries.filter((one) => one.key !== key);
  const summaries = [...others, summary].sort((a, b) => b.lastAt - a.lastAt).slice(0, SUMMARIES_MAX);
  return {
    ...record,
    firstFailedAt: epochMs(Math.min(record.firstFailedAt ?? at, at)),
    lastFailedAt: latest(record.lastFailedAt, at),
    // The one example that is shown: those of all would be most of what each failure writes.
    summaries: summaries.map((one, index) => (index === 0 ? one : { ...one, example: "" })),
  };
}

const latest = (known: EpochMs | null | undefined, at: EpochMs): EpochMs => epochMs(Math.max(known ?? at, at));
