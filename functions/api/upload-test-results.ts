import { repoKey } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { takeResults } from "../../shared/test-health/app/upload.ts";
import { serve } from "../serve.ts";
import { uploadAnswer } from "../test-health.ts";

export const handler = serve("upload-test-results", async ({ input, file, principal }, app) => {
  const { repo, repoHost, sha, branch, pr, variant, job, attempt, started_at, run_url, merge_queue, test_run } = input;
  const of = { org: principal.org, repo: repoKey({ host: repoHost, ...repo }) };
  const facts = {
    sha,
    branch,
    pullRequests: pr === undefined ? [] : [pr],
    variant,
    job,
    attempt,
    at: started_at ?? null,
    runUrl: run_url ?? null,
    isMergeQueue: merge_queue,
    testRun: test_run ?? null,
  };
  const taken = await takeResults(app, of, facts, file, { host: repoHost, ...repo });
  return taken.ok ? ok(uploadAnswer(taken.value)) : taken;
});
