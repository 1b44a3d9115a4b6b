/** Whether quarantined tests alone failed in the checks of a run: by what these checks reported of it. */
import { DAY_MS, type EpochMs, epochMs, later } from "../../kernel/time.ts";
import type { TestStatus } from "../detect/history.ts";
import { readResults } from "./judge.ts";
import type { HealthApp, Repository, TestRecord, UploadEntry } from "./ports.ts";
import { isQuarantined, type RepositorySettings } from "./settings.ts";

/** A report with fewer than this share of the tests that its job usually runs is not complete. */
const COMPLETE_SHARE = 0.9;
const USUAL_OF_DAYS = 7;

export type Asked = {
  readonly run: string;
  /** Attempts of its checks before the one that is asked about. */
  readonly repeats: number;
  readonly contexts: readonly string[];
  readonly startedAt: EpochMs;
};
export type Forgiven = { readonly context: string; readonly tests: readonly string[] };

/**
 * The failed checks that are forgiven, with the names of their failed tests. A check is, if it reported under its own
 * name and completely, if tests failed in it, and if all of these were quarantined when the run was started: what is
 * quarantined later does not help a run that has failed. "LATER": one has not reported yet.
 */
export async function forgivenOf(
  { health, clock }: HealthApp,
  repository: Repository,
  { run, repeats, contexts, startedAt }: Asked,
): Promise<readonly Forgiven[] | "LATER"> {
  const now = clock();
  const from = epochMs(Math.max(0, startedAt - USUAL_OF_DAYS * DAY_MS));
  const [results, settings] = await Promise.all([
    readResults(health, repository, from, later(now, 1)),
    health.settings(repository),
  ]);
  const ofRun = results.uploads.filter(({ testRun, job }) => testRun === run && contexts.includes(job));
  const records = await Promise.all(ofRun.map(({ id }) => health.upload(repository, id)));
  // What an earlier attempt reported says nothing of this one.
  const present = ofRun.filter((_, at) => records[at]?.facts?.attempt === repeats + 1);
  const reported = contexts.map((context) => ({
    context,
    own: present.filter(({ job }) => job === context),
    usual: usualOf(results.uploads.filter(({ testRun, job }) => testRun !== run && job === context)),
  }));
  if (reported.some(({ own }) => own.length === 0)) return "LATER";
  const failures = [...results.failures.values()].flat();
  const forgiven: Forgiven[] = [];
  for (const { context, own, usual } of reported) {
    const uploads = new Set(own.map(({ id }) => id));
    const failed = failures.filter(({ upload, passed }) => uploads.has(upload) && passed === 0).map(({ test }) => test);
    const kept = await health.tests(repository, failed);
    const known = failed.flatMap((test) => kept.get(test) ?? []);
    const isComplete = own.reduce((sum, { tests }) => sum + tests, 0) >= usual * COMPLETE_SHARE;
    // A test that passed before it failed is among the failing ones, and not among these: it is nobody's to forgive.
    const failing = own.reduce((sum, upload) => sum + upload.failing, 0);
    const areAll =
      known.length === failed.length &&
      failed.length === failing &&
      known.every((one) => wasQuarantined(settings, one, startedAt));
    if (isComplete && failed.length > 0 && areAll) forgiven.push({ context, tests: known.map(({ name }) => name) });
  }
  return forgiven;
}

/** The median; 0 where the job has never reported. */
function usualOf(uploads: readonly UploadEntry[]): number {
  const sizes = uploads.map(({ tests }) => tests).sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length / 2)] ?? 0;
}

function wasQuarantined(settings: RepositorySettings, record: TestRecord, at: EpochMs): boolean {
  const status: TestStatus = record.transitions.findLast((one) => one.at <= at)?.status ?? "HEALTHY";
  const isLate = record.settingAt !== null && record.settingAt > at;
  return !isLate && isQuarantined(settings, record.setting, status);
}
