/** Judging tests by what their repository's uploads say of them, and keeping what came of it. */
import { DAY_MS, earliest, type EpochMs, epochMs, later } from "../../kernel/time.ts";
import { Unavailable } from "../../kernel/unavailable.ts";
import type { TestStatus, Verdict } from "../detect/history.ts";
import { verdictOf } from "../detect/verdict.ts";
import { observationsOf, type Results, resultsOf } from "./figures.ts";
import type { HealthApp, HealthStore, Repository, TestRecord, Transition, UploadEntry } from "./ports.ts";
import type { RepositorySettings } from "./settings.ts";

/** How far back a verdict looks. */
export const HISTORY_MS = 28 * DAY_MS;
const TRANSITIONS_MAX = 50;
const ATTEMPTS_MAX = 12;
const PAUSE_MS = 15;

export const statusOf = ({ transitions }: Pick<TestRecord, "transitions">): TestStatus =>
  transitions.at(-1)?.status ?? "HEALTHY";

export const HEALTHY_REASON = "no rule speaks against it";

/**
 * All that came in from `from` until before `until`, of some tests or of all. `eventually` is for showing: at half the
 * price what came a moment ago may be missing.
 */
export async function readResults(
  health: HealthStore,
  repository: Repository,
  from: EpochMs,
  until: EpochMs,
  tests?: readonly string[],
  eventually?: boolean,
): Promise<Results> {
  const [uploads, failures] = await Promise.all([
    health.uploads(repository, from, until, eventually),
    health.failures(repository, from, until, tests, eventually),
  ]);
  return resultsOf(uploads, await setsOf(health, repository, uploads), failures);
}

export const setsOf = (health: HealthStore, repository: Repository, uploads: readonly UploadEntry[]) =>
  health.sets(repository, [...new Set(uploads.map((upload) => upload.executed))]);

/** The record as the verdict makes it: with a new transition, if it is another status. */
export function judged(record: TestRecord, verdict: Verdict, now: EpochMs, upload: string | null): TestRecord {
  const { status, reason, rules, evidence, revisitAt } = verdict;
  const transition: Transition = { at: now, status, reason, rules, upload };
  const transitions =
    status === statusOf(record) ? record.transitions : [...record.transitions, transition].slice(-TRANSITIONS_MAX);
  return { ...record, reason, evidence, revisitAt, transitions };
}

export const verdictOn = (results: Results, rules: RepositorySettings["rules"], record: TestRecord, now: EpochMs) =>
  verdictOf(observationsOf(results, record.id), rules, statusOf(record), now);

/** Judges every test of the repository that has failed lately, or that is not healthy. Answers when to look again. */
export async function judgeAll(app: HealthApp, repository: Repository): Promise<EpochMs | null> {
  const { health, clock, log } = app;
  // The records first: an upload that comes in between has judged its tests by results that these must not lack.
  const [settings, records] = await Promise.all([health.settings(repository), health.allTests(repository)]);
  const now = clock();
  const results = await readResults(health, repository, epochMs(Math.max(0, now - HISTORY_MS)), later(now, 1));
  let next: EpochMs | undefined;
  for (const record of records) {
    const isQuiet = !results.failures.has(record.id) && statusOf(record) === "HEALTHY" && record.revisitAt === null;
    if (isQuiet) continue;
    const verdict = verdictOn(results, settings.rules, record, now);
    next = earliest(next, verdict.revisitAt);
    if (!isNews(record, verdict)) continue;
    const make = (present: TestRecord): TestRecord | undefined => {
      if (present === record) return judged(record, verdict, now, null);
      // Another upload may have judged it by results that came in later: the next look has them, too.
      next = earliest(next, now);
      return undefined;
    };
    const kept = await change(app, repository, record.id, make, undefined, record);
    if (verdict.status !== statusOf(record) && kept)
      log.info("a test's status changed", { test: record.id, from: statusOf(record), to: verdict.status });
  }
  return next ?? null;
}

/** Why a test is healthy has other numbers after every upload: to keep those would write each test that ever failed. */
const isNews = (record: TestRecord, { status, reason, revisitAt }: Verdict): boolean =>
  status !== statusOf(record) || revisitAt !== record.revisitAt || (status !== "HEALTHY" && reason !== record.reason);

/**
 * Reads, changes and writes a record until nobody else has written in between. False: there was nothing to change. The
 * pauses grow and differ, so that the jobs of one build, which end together, do not meet again and again.
 *
 * @param absent in place of one that is not there
 * @param seen as it was read a moment ago, which saves reading it once more
 */
export async function change(
  { health, waiting }: Pick<HealthApp, "health" | "waiting">,
  repository: Repository,
  id: string,
  make: (present: TestRecord) => TestRecord | undefined,
  absent?: TestRecord,
  seen?: TestRecord,
): Promise<boolean> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const known = attempt === 1 && seen !== undefined ? seen : (await health.tests(repository, [id])).get(id);
    const present = known ?? absent;
    const next = present === undefined ? undefined : make(present);
    if (next === undefined) return false;
    if (await health.putTest(repository, next)) return true;
    await waiting.pause(PAUSE_MS * attempt * (0.5 + waiting.random()));
  }
  throw new Unavailable(`test ${id} is written by others all the time`);
}

/** Looks at every repository that is due. One that fails does not keep the others. */
export async function judgeDue(app: HealthApp): Promise<void> {
  for (const due of await app.health.due(app.clock())) {
    try {
      await app.health.rearm(due, await judgeAll(app, due.repository));
    } catch (error) {
      const { org, repo } = due.repository;
      app.log.error("the tests of a repository could not be judged", { org, ...repo, error: String(error) });
    }
  }
}
