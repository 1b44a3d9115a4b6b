/** The service as its users reach it: HTTP and a token. Answers are read with the schemas of the contract. */
import type * as z from "zod";
import { explanation } from "../../../shared/schemas/explanation.ts";
import {
  impactedTargetsSet,
  submittedPullRequest,
  submittedPullRequests,
} from "../../../shared/schemas/pull-request.ts";
import { queue } from "../../../shared/schemas/queue.ts";
import { healthSettings, testDetails } from "../../../shared/schemas/test-details.ts";
import { failingTests, unhealthyTests } from "../../../shared/schemas/test-health.ts";
import { testingDetails } from "../../../shared/schemas/test-run.ts";
import { uploadAnswer } from "../../../shared/schemas/test-uploads.ts";
import { LOCAL_ORG } from "../admin-token.ts";
import { BRANCH, type Repo } from "./repository.ts";

export type PullRequest = z.output<typeof submittedPullRequest>;
export type TestingDetails = z.output<typeof testingDetails>;
export type UnhealthyTest = z.output<typeof unhealthyTests>["tests"][number];
export type FailingTest = z.output<typeof failingTests>["tests"][number];
export type TestDetails = z.output<typeof testDetails>;
export type UploadAnswer = z.output<typeof uploadAnswer>;

/** What a CI says of the run that a JUnit file is of. */
export type RunFacts = {
  readonly sha: string;
  readonly branch: string;
  readonly job: string;
  readonly pr?: string;
  readonly attempt?: string;
  readonly merge_queue?: string;
};

export type Client = ReturnType<typeof createClient>;

export function createClient(
  url: string,
  token: string,
  repo: Repo,
  queueSettings: Readonly<Record<string, unknown>> = {},
) {
  const asOurs = { "x-api-token": token };
  const send = async <T>(path: string, reply: z.ZodType<T>, type: string, body: string): Promise<T> => {
    const headers = { ...asOurs, "content-type": type };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return reply.parse(await answer.json());
  };
  // Every request names the queue: a repository and its target branch.
  const post = <T>(path: string, reply: z.ZodType<T>, fields: Record<string, unknown>): Promise<T> =>
    send(path, reply, "application/json", JSON.stringify({ repo, targetBranch: BRANCH, ...fields }));
  // Test health knows of repositories, and of no queues.
  const health = <T>(path: string, reply: z.ZodType<T>, fields: Record<string, unknown> = {}): Promise<T> =>
    send(
      `/flaky-tests/${path}`,
      reply,
      "application/json",
      JSON.stringify({ repo, org_url_slug: LOCAL_ORG, ...fields }),
    );
  const ofRepo = { repo: `${repo.owner}/${repo.name}`, repoHost: repo.host };
  return {
    createQueue: (settings: Record<string, unknown>) => post("/createQueue", queue, { ...queueSettings, ...settings }),
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
    uploadResults: (junit: string, facts: RunFacts) => {
      const query = new URLSearchParams({ ...ofRepo, ...facts });
      const path = `/flaky-tests/upload-test-results?${query.toString()}`;
      return send(path, uploadAnswer, "application/xml", junit);
    },
    unhealthyTests: () => health("list-unhealthy-tests", unhealthyTests),
    failingTests: (from: Date, until: Date) =>
      health("list-failing-tests", failingTests, { start_time: from.toISOString(), end_time: until.toISOString() }),
    testDetails: (id: string) => health("get-test-details", testDetails, { test_id: id }),
    updateHealthSettings: (change: Record<string, unknown>) => health("update-settings", healthSettings, change),
    metrics: async (): Promise<string> => {
      const query = new URLSearchParams(ofRepo);
      const answer = await fetch(`${url}/getMergeQueueMetrics?${query.toString()}`, { headers: asOurs });
      if (answer.status !== 200) throw new Error(`the metrics answered ${answer.status}: ${await answer.text()}`);
      return answer.text();
    },
  };
}
