/** The test runs of a scene, as the service and git tell of them. */
import type { Stage } from "./scene.ts";

export type TestRun = {
  readonly id: string;
  readonly isBisection: boolean;
  readonly status: string;
  /** Whom it tests. */
  readonly pullRequests: readonly number[];
  /** The subjects of everything that was put onto the target for it, whom it tests included; by git. */
  readonly content: readonly string[];
  readonly sha: string | null;
  readonly targets: readonly string[] | "ALL" | undefined;
};

/** All that any pull request of the scene was in, in the order in which they began. */
export async function runsOf({ client, repository, watch }: Stage): Promise<readonly TestRun[]> {
  const ids = new Set(watch.moves().flatMap(({ testRunId }) => (testRunId === null ? [] : [testRunId])));
  const found = await Promise.all([...ids].map((id) => client.testRun(id)));
  const runs = found.flatMap(({ testRuns }) => testRuns).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  return Promise.all(
    runs.map(async (run) => ({
      id: run.testRunId,
      isBisection: run.isBisection,
      status: run.status,
      pullRequests: run.testedPullRequests.map(({ prNumber }) => prNumber),
      content: run.testBranchSha === null ? [] : await repository.subjects(`${run.baseSha}..${run.testBranchSha}`),
      sha: run.testBranchSha,
      targets: run.impactedTargetsForTestedPrs,
    })),
  );
}

export const numbersIn = (subjects: readonly string[]): readonly number[] =>
  subjects.flatMap((subject) => {
    const found = /\(#(\d+)\)$/u.exec(subject)?.[1];
    return found === undefined ? [] : [Number(found)];
  });

/** One line for each: what it was, what was in it, how it ended. */
export function showRuns({ screen }: Stage, runs: readonly TestRun[]): void {
  screen.say("The test runs, and what git says was in them:");
  for (const { isBisection, pullRequests, content, status } of runs) {
    const what = isBisection ? "bisection" : pullRequests.length > 1 ? "batch" : "test";
    const ahead = numbersIn(content).filter((number) => !pullRequests.includes(number));
    const on = ahead.length === 0 ? "main" : `main with ${ahead.map((number) => `#${number}`).join(" ")}`;
    const tested = pullRequests.map((number) => `#${number}`).join(" ");
    screen.quote(`${what.padEnd(9)}  ${tested.padEnd(15)}  on ${on.padEnd(22)}  ${status}`);
  }
}
