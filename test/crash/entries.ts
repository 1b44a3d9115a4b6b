/** Reads everything that the queue has to tell at the end. */
import * as z from "zod";
import { type Api, type PullRequest, pullRequest } from "./api.ts";

const page = z.object({ pullRequests: z.array(pullRequest), nextCursor: z.string().optional() });

/** Every submission, live and ended. */
export async function allEntries(api: Api): Promise<readonly PullRequest[]> {
  const entries: PullRequest[] = [];
  let cursor: string | undefined;
  do {
    const answer = await api.sure("/listPullRequests", { take: 100, ...(cursor === undefined ? {} : { cursor }) });
    const read = page.parse(answer.body);
    entries.push(...read.pullRequests);
    cursor = read.nextCursor;
  } while (cursor !== undefined);
  return entries;
}

const testRun = z.object({
  testRunId: z.string(),
  status: z.string(),
  testBranchSha: z.string().nullable(),
  requiredStatuses: z.array(z.string()),
  statusChecks: z.array(z.object({ context: z.string(), state: z.string() })),
  testedPullRequests: z.array(z.object({ prNumber: z.number() })),
});
export type TestRun = z.infer<typeof testRun>;

export async function testRunOf(api: Api, testRunId: string): Promise<TestRun | undefined> {
  const answer = await api.sure("/getMergeQueueTestingDetails", { testRunId });
  return answer.status === 200 ? testRun.parse(answer.body) : undefined;
}

const explanation = z.object({
  summary: z.string(),
  blockers: z.array(z.object({ kind: z.string(), message: z.string() })),
});

export async function blockersOf(api: Api, prNumber: number): Promise<readonly string[]> {
  const answer = await api.sure("/explainPullRequest", { pr: { number: prNumber } });
  return explanation.parse(answer.body).blockers.map(({ kind, message }) => `${kind}: ${message}`);
}
