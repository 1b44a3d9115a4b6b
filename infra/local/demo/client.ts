/** The service as its users reach it: HTTP and a token. Answers are read with the schemas of the contract. */
import type * as z from "zod";
import { explanation } from "../../../shared/schemas/explanation.ts";
import {
  impactedTargetsSet,
  submittedPullRequest,
  submittedPullRequests,
} from "../../../shared/schemas/pull-request.ts";
import { queue } from "../../../shared/schemas/queue.ts";
import { testingDetails } from "../../../shared/schemas/test-run.ts";
import { BRANCH, type Repo } from "./repository.ts";

export type PullRequest = z.output<typeof submittedPullRequest>;
export type TestingDetails = z.output<typeof testingDetails>;

export type Client = ReturnType<typeof createClient>;

export function createClient(url: string, token: string, repo: Repo) {
  const headers = { "x-api-token": token, "content-type": "application/json" };
  const post = async <T>(path: string, reply: z.ZodType<T>, fields: Record<string, unknown>): Promise<T> => {
    // Every request names the queue: a repository and its target branch.
    const body = JSON.stringify({ repo, targetBranch: BRANCH, ...fields });
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return reply.parse(await answer.json());
  };
  return {
    createQueue: (settings: Record<string, unknown>) => post("/createQueue", queue, settings),
    updateQueue: (change: Record<string, unknown>) => post("/updateQueue", queue, change),
    getQueue: () => post("/getQueue", queue, {}),
    submit: (number: number, more: Record<string, unknown> = {}) =>
      post("/submitPullRequest", submittedPullRequest, { pr: { number }, ...more }),
    cancel: (number: number) => post("/cancelPullRequest", submittedPullRequest, { pr: { number } }),
    pullRequests: (numbers: readonly number[]) =>
      post("/getSubmittedPullRequests", submittedPullRequests, { prs: numbers.map((number) => ({ number })) }),
    withTimeline: (number: number) =>
      post("/getSubmittedPullRequest", submittedPullRequest, { pr: { number }, includeTimeline: true }),
    setTargets: (number: number, impactedTargets: readonly string[] | "ALL") =>
      post("/setImpactedTargets", impactedTargetsSet, { pr: { number }, impactedTargets }),
    testRun: (testRunId: string) => post("/getMergeQueueTestingDetails", testingDetails, { testRunId }),
    explain: (number: number) => post("/explainPullRequest", explanation, { pr: { number } }),
    metrics: async (): Promise<string> => {
      const query = new URLSearchParams({ repo: `${repo.owner}/${repo.name}`, repoHost: repo.host });
      const answer = await fetch(`${url}/getMergeQueueMetrics?${query.toString()}`, { headers });
      if (answer.status !== 200) throw new Error(`the metrics answered ${answer.status}: ${await answer.text()}`);
      return answer.text();
    },
  };
}
