/** Every point to which the target moved: by whom, tested by what, and does it pass when a shell is asked. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Api, PullRequest } from "./api.ts";
import { type TestRun, testRunOf } from "./entries.ts";
import type { Ledger } from "./ledger.ts";
import { CHECKS, type Sample } from "./sample.ts";

export async function judgeLanded(
  api: Api,
  sample: Sample,
  ledger: Ledger,
  entries: readonly PullRequest[],
): Promise<readonly string[]> {
  const { repo, start } = sample;
  const points = repo.git("rev-list", "--first-parent", "--reverse", `${start}..main`).split("\n").filter(Boolean);
  const merged = new Map(entries.filter((one) => one.state === "MERGED").map((one) => [one.prNumber, one]));
  const wrong = [...twice(entries), ...passInAShell(sample, points)];
  const landed = new Map<number, string>();
  for (const point of points) {
    if (ledger.pushed.has(point)) continue;
    const subject = repo.git("log", "-1", "--format=%s", point);
    const number = numberIn(subject);
    if (landed.has(number)) wrong.push(`#${number} landed twice: ${landed.get(number)} and ${point}`);
    landed.set(number, point);
    const entry = merged.get(number);
    if (entry === undefined) wrong.push(`${point} "${subject}" is on the target, and no such entry is MERGED`);
    else wrong.push(...(await judgePoint(api, sample, point, entry)));
  }
  for (const number of merged.keys())
    if (!landed.has(number)) wrong.push(`#${number} is MERGED, and no commit of it is on the target`);
  return wrong;
}

/** Of a squashed commit, or of a merge commit. */
const numberIn = (subject: string): number => {
  const [, squashed, merged] = / \(#(\d+)\)$|^Merge #(\d+): /u.exec(subject) ?? [];
  return Number(squashed ?? merged ?? 0);
};

function twice(entries: readonly PullRequest[]): readonly string[] {
  const numbers = entries.filter((one) => one.state === "MERGED").map((one) => one.prNumber);
  return numbers.filter((number, at) => numbers.indexOf(number) !== at).map((number) => `#${number} is MERGED twice`);
}

async function judgePoint(api: Api, { repo }: Sample, point: string, entry: PullRequest): Promise<readonly string[]> {
  const what = `${point} (#${entry.prNumber}, run ${entry.verifiedByTestRun})`;
  const run = entry.verifiedByTestRun === null ? undefined : await testRunOf(api, entry.verifiedByTestRun);
  if (run === undefined) return [`${what}: there is no run that proved it`];
  const wrong: string[] = [];
  if (run.status !== "SUCCEEDED") wrong.push(`${what}: its run ${run.status}`);
  if (run.requiredStatuses.length < Object.keys(CHECKS).length || !run.requiredStatuses.every(passedIn(run)))
    wrong.push(`${what}: not all required statuses passed: ${JSON.stringify(run.statusChecks)}`);
  if (!run.testedPullRequests.some((one) => one.prNumber === entry.prNumber))
    wrong.push(`${what}: its run tested something else`);
  const isTested = run.testBranchSha !== null && repo.tree(run.testBranchSha) === repo.tree(point);
  if (!isTested && !isMerge(repo, point, entry))
    wrong.push(`${what}: what was tested, ${run.testBranchSha}, is not what landed, nor is that its merge`);
  return wrong;
}

/** Where other lanes have landed since: the target as it was, with the head that was tested. */
const isMerge = (repo: Sample["repo"], point: string, { prSha }: PullRequest): boolean =>
  prSha !== null && repo.git("merge-tree", "--write-tree", `${point}^1`, prSha) === repo.tree(point);

const passedIn =
  ({ statusChecks }: TestRun) =>
  (context: string): boolean =>
    statusChecks.some((check) => check.context === context && check.state === "SUCCESS");

/** A fresh clone and the checks as anybody would run them, without any of the service's code. */
function passInAShell({ repo }: Sample, points: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "mainline-crash-clone-"));
  const clone = join(folder, "clone");
  const run = (file: string, args: readonly string[], cwd: string) =>
    spawnSync(file, args, { cwd, encoding: "utf8", env: { ...process.env, PACE: "0" } });
  try {
    run("git", ["clone", "--quiet", "--no-local", repo.dir, clone], folder);
    return points.flatMap((point) => {
      const out = run("git", ["checkout", "--quiet", "--detach", point], clone);
      if (out.status !== 0) return [`${point} cannot be checked out: ${out.stderr}`];
      return Object.entries(CHECKS).flatMap(([name, command]) => {
        const answer = run("sh", ["-c", command], clone);
        return answer.status === 0 ? [] : [`${point} fails ${name} in a shell: ${answer.stdout}${answer.stderr}`];
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
