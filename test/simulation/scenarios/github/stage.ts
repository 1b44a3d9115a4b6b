/**
 * One story on GitHub's twin: a repository and a queue of its own, in a service that plays many of them at once. Time is
 * the machine's own: the twin answers over real HTTP, which waits for no clock of ours. A story's minute is a second.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type CommitSha, commitSha, type RepoKey, repoKey } from "../../../../shared/kernel/ids.ts";
import type { OnGitHub } from "../../../support/github-service.ts";
import { repositoryAt, type TestRepository } from "../../../support/git-repository.ts";
import type { QueueClient } from "../../../support/service.ts";
import type { Scenario } from "../scenario.ts";
import { configOf, filesOf, isGood, numbersIn } from "./cast.ts";

export const SECOND_MS = 1_000;
const MEDIAN_MINUTES = 2;

export type Stage = {
  readonly on: OnGitHub;
  readonly scenario: Scenario;
  readonly name: string;
  readonly repo: TestRepository;
  readonly start: CommitSha;
  readonly queue: QueueClient;
  /** What the target pointed to, one after the other. */
  readonly tips: readonly string[];
};

export const headOf = (number: number): string => `change-${number}`;

export async function setStage(on: OnGitHub, scenario: Scenario, at: number): Promise<Stage> {
  const { twin, service } = on;
  const name = `acme/story-${at}`;
  const { path, sha } = await twin.addRepository(name, { files: { "a.txt": "1\n", ...configOf({}) } });
  const key: RepoKey = repoKey({ host: "github.com", owner: "acme", name: `story-${at}` });
  const repo = repositoryAt(path, key);
  const tips: string[] = [];
  twin.onPush((pushed) => {
    if (pushed.repository === name && pushed.branch === "main") tips.push(pushed.sha);
  });
  playCi(on, name, scenario, repo);
  for (const number of Object.keys(scenario.prs).map(Number)) {
    const cast = scenario.prs[number] ?? {};
    twin.nextNumber(name, number);
    await twin.openPullRequest(name, {
      head: headOf(number),
      base: "main",
      files: filesOf(number, cast, scenario.prs),
      draft: cast.isDraft === true,
    });
  }
  return { on, scenario, name, repo, start: commitSha(sha), queue: service.client({ key }), tips };
}

/** It looks at what a commit contains, and takes its time. One that is to fail by chance does so as often as it says. */
function playCi({ twin }: OnGitHub, name: string, scenario: Scenario, repo: TestRepository): void {
  const { prs, medianMinutes = MEDIAN_MINUTES, settings, acts } = scenario;
  const flakes = new Map(Object.keys(prs).map((number) => [Number(number), prs[Number(number)]?.flakes ?? 0]));
  const isEndless = settings?.["testingTimeoutMinutes"] !== undefined;
  const names = acts.some((act) => "pushTarget" in act && act.pushTarget.required?.includes("lint") === true)
    ? ["unit", "lint"]
    : ["unit"];
  const verdict = (sha: string): "success" | "failure" => {
    const contained = numbersIn(repo.git("ls-tree", "-r", "--name-only", sha).split("\n"));
    const flake = [...contained].find((number) => (flakes.get(number) ?? 0) > 0);
    if (flake !== undefined) flakes.set(flake, (flakes.get(flake) ?? 0) - 1);
    return flake === undefined && isGood(prs, contained) ? "success" : "failure";
  };
  const stopped = new Set<string>();
  const check = async (sha: string, only: readonly string[], again: boolean): Promise<void> => {
    for (const check of only) await twin.setCheckRun(name, sha, check, "in_progress", { again });
    if (isEndless) return;
    await sleep(medianMinutes * SECOND_MS * (0.5 + Math.random()));
    if (stopped.has(sha)) return;
    const state = verdict(sha);
    for (const check of only) await twin.setCheckRun(name, sha, check, state);
  };
  const isOwn = (branch: string): boolean => branch.startsWith("mainline/pr-") || branch.startsWith("mainline/tip/");
  const provesHeads = settings?.["directMergeMode"] !== undefined;
  twin.onPush(({ repository, branch, sha }) => {
    const isHead = provesHeads && branch.startsWith("change-");
    if (repository === name && (isOwn(branch) || isHead)) void check(sha, names, false).catch(() => {});
  });
  twin.onRerun((rerun) => {
    if (rerun.repository === name) void check(rerun.sha, rerun.names, true).catch(() => {});
  });
  twin.onCancel((cancelled) => {
    if (cancelled.repository === name) stopped.add(cancelled.sha);
  });
}
