/** What a code host's message means to the queues of its repository. A hint makes them look; it says nothing itself. */
import type { OrgSlug, QueueKey, RepoKey, RunId } from "../../kernel/ids.ts";
import { runId } from "../../kernel/ids.ts";
import type { Left, QueueApp } from "./ports.ts";

export type Hinted = {
  /** The message's own id: what it leaves is told apart from what others leave. */
  readonly id: string;
  readonly prNumbers: readonly number[];
  readonly branches: readonly string[];
  /** Testing branches, `mainline/pr-<n>/<run>`, on which a check has ended. */
  readonly tested: readonly string[];
};

export async function leftBy(
  app: Pick<QueueApp, "queues">,
  org: OrgSlug,
  repo: RepoKey,
  hinted: Hinted,
): Promise<readonly Left[]> {
  const keys = await app.queues.list(org, repo);
  const left = await Promise.all(
    keys.map(async (key) => [...newsOf(key, hinted), ...(await readsOf(app, key, hinted))]),
  );
  return left.flat();
}

function newsOf(key: QueueKey, { prNumbers, branches }: Hinted): readonly Left[] {
  const tip = branches.includes(key.branch) ? { sha: null } : null;
  return tip === null && prNumbers.length === 0 ? [] : [{ key, event: { type: "news", prNumbers, tip } }];
}

/** A run's id begins with its queue's. */
async function readsOf(app: Pick<QueueApp, "queues">, key: QueueKey, hinted: Hinted): Promise<readonly Left[]> {
  const runs = hinted.tested.flatMap((branch): readonly RunId[] => {
    const last = branch.split("/").at(-1);
    return last === undefined ? [] : [runId(last)];
  });
  const record = runs.length === 0 ? undefined : await app.queues.find(key);
  return runs
    .filter((run) => record !== undefined && run.startsWith(`${record.id}-`))
    .map((run) => ({ key, effect: { type: "read-statuses", key: `read-statuses:${run}:hint:${hinted.id}`, run } }));
}
