/** What is known of a test run by its id alone. */
import { type OrgSlug, type RepoKey, type RunId, runId } from "../../kernel/ids.ts";
import type { QueueApp } from "./ports.ts";

/** Pull requests whose changes the run tests, as far as they are known; none of a run that no queue has. */
export async function pullRequestsOfRun(
  { queues }: QueueApp,
  org: OrgSlug,
  repo: RepoKey,
  run: string,
): Promise<readonly number[]> {
  const id: RunId = runId(run);
  for (const key of await queues.list(org, repo)) {
    const ended = await queues.endedRun(key, id);
    if (ended !== undefined) return ended.tested.map(({ prNumber }) => prNumber);
    const live = await queues.view(key);
    const found = live?.state.runs.get(id);
    if (live === undefined || found === undefined) continue;
    return [...found.predecessors, ...found.group].flatMap((one) => live.state.entries.get(one)?.prNumber ?? []);
  }
  return [];
}
