/** A workflow run of GitHub Actions, as far as it says who asks. Anybody may: it takes from the limits what others leave. */
import * as z from "zod";
import { commitSha } from "../../kernel/ids.ts";
import type { ForkRun } from "../port.ts";
import { type Place, unless } from "./place.ts";

const repository = z.object({ id: z.number() });
const workflowRun = z.object({
  head_sha: z.string(),
  status: z.string().nullable(),
  event: z.string(),
  repository,
  // Null when the fork was removed in the meantime.
  head_repository: repository.nullable(),
});

/**
 * A run of `pull_request` alone: its head is the pull request's, and its head repository the one that the pull request
 * comes from; a run does not say which. One of `pull_request_target` has the repository's own secrets, and with them a token to send.
 */
export async function readForkRun(place: Place, run: number, prNumber: number): Promise<ForkRun | "NOT_FOUND"> {
  const { spare, at } = place;
  const asked = { ...at, run_id: run };
  const found = await unless([404], () => spare("GET /repos/{owner}/{repo}/actions/runs/{run_id}", asked));
  if (found === undefined) return "NOT_FOUND";
  const { head_sha, status, event, repository, head_repository: from } = workflowRun.parse(found.data);
  const isOfFork = event === "pull_request" && from !== null && from.id !== repository.id;
  const isInProgress = status === "in_progress";
  const isOfHead = isOfFork && isInProgress && (await headOf(place, prNumber)) === head_sha;
  return { headSha: commitSha(head_sha), isInProgress, isOfFork, isOfHead };
}

async function headOf({ spare, at }: Place, pull_number: number): Promise<string | undefined> {
  const asked = { ...at, pull_number };
  return (await unless([404], () => spare("GET /repos/{owner}/{repo}/pulls/{pull_number}", asked)))?.data.head.sha;
}
