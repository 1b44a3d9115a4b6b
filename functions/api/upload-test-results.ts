import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { pullRequestsOfRun } from "../../shared/queue/app/runs.ts";
import { takeResults } from "../../shared/test-health/app/upload.ts";
import { serve } from "../serve.ts";
import { uploadAnswer } from "../test-health.ts";
import { wired } from "../wiring.ts";

export const handler = serve(
  testHealthRoutes["upload-test-results"],
  wired,
  async ({ input, file, principal }, app) => {
    const { repo, repoHost, sha, branch, pr, variant, job, attempt, started_at, run_url, merge_queue, test_run } =
      input;
    const of = { org: principal.org, repo: repoKey({ host: repoHost, ...repo }) };
    // A run of the queue tests the changes of several; the queue knows of which.
    const ofRun = test_run === undefined ? [] : await pullRequestsOfRun(app, of.org, of.repo, test_run);
    const facts = {
      sha,
      branch,
      pullRequests: [...new Set([...(pr === undefined ? [] : [pr]), ...ofRun])],
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
  },
);
