/** Which uploads are of an outage: by their job, or by all that their commit has brought. */
import { commitsOf, isOutage, type SuiteRun } from "../detect/outage.ts";
import type { UploadEntry } from "./ports.ts";

type Known = Omit<UploadEntry, "isOutage" | "isCommitOutage">;

/** A break of one kind of branch is not in a row with what passes on another. */
const kindOf = ({ testRun, isDefaultBranch }: Known): string =>
  testRun !== null ? "QUEUE" : isDefaultBranch ? "DEFAULT" : "OTHER";

const commitOf = (upload: Known): string => `${kindOf(upload)} ${upload.sha}`;

const suiteOf = ({ at, sha, tests, failed }: Known, wasOutage: boolean): SuiteRun => ({
  at,
  sha,
  tests,
  failing: failed,
  wasOutage,
});

/** @param before uploads that are known already, in any order */
export function judgeOutage(upload: Known, before: readonly UploadEntry[]): UploadEntry {
  const alike = before.filter((other) => other.id !== upload.id && kindOf(other) === kindOf(upload));
  const ofJob = alike.filter((other) => other.job === upload.job).map((other) => suiteOf(other, other.isOutage));
  const others = alike.filter((other) => other.sha !== upload.sha);
  const commits = commitsOf(others.map((other) => suiteOf(other, other.isCommitOutage)));
  const own = alike.filter((other) => other.sha === upload.sha).map((other) => suiteOf(other, false));
  const [commit] = commitsOf([suiteOf(upload, false), ...own]);
  return {
    ...upload,
    isOutage: isOutage(suiteOf(upload, false), ofJob),
    isCommitOutage: commit !== undefined && isOutage(commit, commits),
  };
}

/** Whether an upload feeds no rule: what came of its commit before or after it may say so as well. */
export function outagesIn(uploads: readonly UploadEntry[]): (upload: UploadEntry) => boolean {
  const commits = new Set(uploads.filter((upload) => upload.isCommitOutage).map(commitOf));
  return (upload) => upload.isOutage || commits.has(commitOf(upload));
}
