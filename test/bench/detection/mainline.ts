/** The service's part: outages are judged as uploads come, then each test as news of it does. */
import { type EpochMs, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Observation, TestStatus } from "../../../shared/test-health/detect/history.ts";
import { isOutage, type SuiteRun } from "../../../shared/test-health/detect/outage.ts";
import type { DetectionRules } from "../../../shared/test-health/detect/rules.ts";
import { verdictOf } from "../../../shared/test-health/detect/verdict.ts";
import type { SimulatedTest } from "./population.ts";
import type { Upload } from "./schedule.ts";

/** By project, then by the number of the upload. */
export type Outages = ReadonlyMap<string, readonly boolean[]>;

/** How many of the runs before are handed over: more than enough for a median of 50. */
const RECENT = 80;

/**
 * Each upload among those of its job, and each commit, that is all jobs' uploads of it, among commits: a suite of which
 * much fails every day is no outage by its own measure, and yet is down with the others.
 */
export function outagesOf(tests: readonly SimulatedTest[], uploads: readonly Upload[]): Outages {
  const ofCommits = flagsOf(tests, uploads);
  const projects = Map.groupBy(tests, (test) => test.project);
  const either = (flags: readonly boolean[]): readonly boolean[] =>
    flags.map((flag, upload) => flag || ofCommits[upload] === true);
  return new Map([...projects].map(([project, ofProject]) => [project, either(flagsOf(ofProject, uploads))]));
}

function flagsOf(tests: readonly SimulatedTest[], uploads: readonly Upload[]): readonly boolean[] {
  const failing = uploads.map(() => 0);
  for (const { failures } of tests) for (const { upload } of failures) failing[upload] = (failing[upload] ?? 0) + 1;
  const recent: Record<"true" | "false", SuiteRun[]> = { true: [], false: [] };
  return uploads.map(({ at, sha, isDefaultBranch }, upload) => {
    const before = recent[`${isDefaultBranch}`];
    const one = { at, sha, tests: tests.length, failing: failing[upload] ?? 0 };
    const wasOutage = isOutage(one, before);
    before.push({ ...one, wasOutage });
    if (before.length > RECENT) before.shift();
    return wasOutage;
  });
}

export const noOutages = (tests: readonly SimulatedTest[], uploads: readonly Upload[]): Outages =>
  new Map([...new Set(tests.map((test) => test.project))].map((project) => [project, uploads.map(() => false)]));

export type Course = {
  /** When it was called FLAKY first. */
  readonly calledAt: EpochMs | null;
  /** Each status it had, one after the other. */
  readonly statuses: readonly TestStatus[];
};

/** What broke for good is judged at each of its first failures, and then at every 25th: nothing is new about them. */
const EACH_UNTIL = 40;
const THEN_EVERY = 25;

/** Follows one test through all uploads. What is called FLAKY is not followed further: no figure needs it. */
export function courseOf(test: SimulatedTest, passes: readonly Observation[], rules: DetectionRules): Course {
  const failures = new Map(test.failures.map((failure) => [failure.upload, failure]));
  const history: Observation[] = [];
  const apartMs = rules.shortEpisodes.apartMinutes * MINUTE_MS;
  const file = newFile();
  const judge = (now: EpochMs): void => {
    const { status, revisitAt } = verdictOf(history, rules, file.status, now);
    if (status !== file.status) file.statuses.push(status);
    if (status === "FLAKY") file.calledAt ??= now;
    Object.assign(file, { status, revisitAt, judged: file.judged + 1 });
  };
  for (const [upload, pass] of passes.entries()) {
    while (file.calledAt === null && file.revisitAt !== null && file.revisitAt <= pass.at) judge(file.revisitAt);
    const failure = failures.get(upload);
    history.push(failure === undefined ? pass : { ...pass, passed: failure.passed, failed: failure.failed });
    const isNews = failure === undefined ? file.openSince !== null && pass.isDefaultBranch : !pass.isOutage;
    if (pass.isDefaultBranch && !pass.isOutage) {
      if (failure !== undefined) file.openSince = pass.at;
      else if (pass.at - (file.openSince ?? 0) > apartMs) file.openSince = null;
    }
    if (isNews && (failure === undefined || file.judged < EACH_UNTIL || upload % THEN_EVERY === 0)) judge(pass.at);
    if (file.calledAt !== null) break;
  }
  return file;
}

type File = {
  status: TestStatus;
  revisitAt: EpochMs | null;
  calledAt: EpochMs | null;
  readonly statuses: TestStatus[];
  judged: number;
  /** Its last failure on the default branch, until a pass is clear of it: each pass in between is news. */
  openSince: EpochMs | null;
};

const newFile = (): File => ({
  status: "HEALTHY",
  revisitAt: null,
  calledAt: null,
  statuses: ["HEALTHY"],
  judged: 0,
  openSince: null,
});

/** What each upload says of a test that passes in it, by project. */
export function passesOf(uploads: readonly Upload[], outages: Outages): ReadonlyMap<string, readonly Observation[]> {
  const of = (flags: readonly boolean[]): readonly Observation[] =>
    uploads.map(({ at, sha, branch, isDefaultBranch, id }, upload) => ({
      at,
      sha,
      branch,
      isDefaultBranch,
      upload: id,
      passed: 1,
      failed: 0,
      isOutage: flags[upload] ?? false,
    }));
  return new Map([...outages].map(([project, flags]) => [project, of(flags)]));
}
