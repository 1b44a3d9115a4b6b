/** What a code host noticed by itself, brought to the queues it concerns. Losing one costs a sweep. */
import type { CodeHost } from "../../code-host/port.ts";
import type { OrgSlug, QueueKey, RepoKey, RunId } from "../../kernel/ids.ts";
import { readStatuses } from "./perform.ts";
import type { QueueApp } from "./ports.ts";

export async function reportChecks(app: QueueApp, org: OrgSlug, repo: RepoKey, run: RunId): Promise<void> {
  const host = app.hosts(org, repo.host);
  if (host === undefined) return;
  for (const key of await app.queues.list(org, repo)) {
    const record = await app.queues.find(key);
    // A run's id begins with its queue's.
    if (record === undefined || !run.startsWith(`${record.id}-`)) continue;
    await reportRun(app, host, key, run);
  }
}

export async function reportRun(app: QueueApp, host: CodeHost, key: QueueKey, run: RunId): Promise<void> {
  const event = await readStatuses(app, host, key, run);
  app.passing("report:before-write");
  await app.queues.tell(key, event);
}

export async function reportRefs(
  app: QueueApp,
  org: OrgSlug,
  repo: RepoKey,
  moved: { readonly prNumbers: readonly number[]; readonly branches: readonly string[] },
): Promise<void> {
  for (const key of await app.queues.list(org, repo)) {
    const tip = moved.branches.includes(key.branch) ? { sha: null } : null;
    if (tip === null && moved.prNumbers.length === 0) continue;
    await app.queues.tell(key, { type: "news", prNumbers: moved.prNumbers, tip });
  }
}
