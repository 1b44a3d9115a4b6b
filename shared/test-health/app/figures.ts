/** What is counted of tests: executions, failures, pull requests, commonest failures. From lists that were read once. */
import { type EpochMs, epochMs } from "../../kernel/time.ts";
import type { Observation } from "../detect/history.ts";
import { outagesIn } from "./outages.ts";
import type { Failure, TestRecord, TestSet, UploadEntry } from "./ports.ts";

/** Uploads of some time with all that failed in them, as of one moment. */
export type Results = {
  readonly uploads: readonly UploadEntry[];
  readonly sets: ReadonlyMap<string, TestSet>;
  /** Of uploads in the list only; by test, then in the order of time. */
  readonly failures: ReadonlyMap<string, readonly Failure[]>;
  /** What each upload says of a test that passed in it: one object for all of them. */
  readonly passes: readonly Observation[];
};

/** Joins what was read. A failure whose upload is not listed was never finished: it does not count. */
export function resultsOf(
  uploads: readonly UploadEntry[],
  sets: ReadonlyMap<string, TestSet>,
  failures: readonly Failure[],
): Results {
  const listed = new Set(uploads.map((upload) => upload.id));
  const byTest = new Map<string, Failure[]>();
  for (const failure of failures) {
    if (!listed.has(failure.upload)) continue;
    const known = byTest.get(failure.test);
    if (known === undefined) byTest.set(failure.test, [failure]);
    else known.push(failure);
  }
  for (const all of byTest.values()) all.sort((a, b) => a.at - b.at || a.upload.localeCompare(b.upload));
  return { uploads, sets, failures: byTest, passes: passesOf(uploads) };
}

function passesOf(uploads: readonly UploadEntry[]): readonly Observation[] {
  const isOutage = outagesIn(uploads);
  return uploads.map((upload) => {
    const { id, at, sha, branch, isDefaultBranch } = upload;
    return { at, sha, branch, isDefaultBranch, isOutage: isOutage(upload), upload: id, passed: 1, failed: 0 };
  });
}

/** What each upload says of the test, oldest first. */
export function observationsOf({ uploads, sets, failures, passes }: Results, test: string): readonly Observation[] {
  const failed = new Map((failures.get(test) ?? []).map((failure) => [failure.upload, failure]));
  const holding = new Set([...sets].flatMap(([name, set]) => (set.has(test) ? [name] : [])));
  const found: Observation[] = [];
  for (const [index, pass] of passes.entries()) {
    const failure = failed.size === 0 ? undefined : failed.get(pass.upload);
    if (failure !== undefined) found.push({ ...pass, passed: failure.passed, failed: failure.failed });
    else if (holding.has(uploads[index]?.executed ?? "")) found.push(pass);
  }
  return found;
}

/** Executions that failed, of all that were not skipped, from `from` until before `until`; 0 of none. */
export function failureRate(observations: readonly Observation[], from: EpochMs, until: EpochMs): number {
  let [failed, all] = [0, 0];
  for (const one of observations) {
    if (one.at < from || one.at >= until) continue;
    failed += one.failed;
    all += one.failed + one.passed;
  }
  return all === 0 ? 0 : failed / all;
}

/** Distinct pull requests in whose uploads the test failed. */
export const pullRequestsIn = (failures: readonly Failure[], from: EpochMs, until: EpochMs): number =>
  new Set(failures.flatMap(({ at, pullRequests }) => (at >= from && at < until ? pullRequests : []))).size;

export type CommonFailure = { readonly summary: string; readonly count: number; readonly lastAt: EpochMs };

/** The most frequent first, then the latest; no more than `most`. */
export function commonFailures(
  failures: readonly Failure[],
  { summaries }: Pick<TestRecord, "summaries">,
  most: number,
): readonly CommonFailure[] {
  const texts = new Map(summaries.map(({ key, text }) => [key, text]));
  const found = new Map<string, { count: number; lastAt: number }>();
  for (const { summary, failed, at } of failures) {
    const known = found.get(summary) ?? { count: 0, lastAt: 0 };
    found.set(summary, { count: known.count + failed, lastAt: Math.max(known.lastAt, at) });
  }
  return [...found]
    .map(([key, { count, lastAt }]) => ({ summary: texts.get(key) ?? "", count, lastAt: epochMs(lastAt) }))
    .filter(({ summary }) => summary !== "")
    .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt || a.summary.localeCompare(b.summary))
    .slice(0, most);
}
