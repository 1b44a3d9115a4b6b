/**
 * The service's own workers, use cases, table and git host in this process, on a clock of the test's, with a host that
 * can be made to fail. For what cannot be driven from outside: hours that pass, a host that hangs.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { createGitHost } from "../../shared/code-host/git/host.ts";
import { writePull } from "../../shared/code-host/git/pulls.ts";
import { findSandbox } from "../../shared/code-host/git/sandbox.ts";
import { type CodeHost, HostUnavailable } from "../../shared/code-host/port.ts";
import { orgSlug, type QueueKey } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { epochMs, later, systemClock } from "../../shared/kernel/time.ts";
import { getPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { createQueue } from "../../shared/queue/app/queues.ts";
import type { SettingsPatch } from "../../shared/queue/app/settings.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { eventually } from "./eventually.ts";
import { aFolder, aRepository, config, type TestRepository } from "./git-repository.ts";
import { startTable } from "./table.ts";

/** A queue with pull request #1 in it. */
export type Submitted = { readonly repo: TestRepository; readonly key: QueueKey };

export type TestApplication = {
  readonly app: Wiring;
  readonly passes: (ms: number) => void;
  /** In place of the host's own functions, from now on. */
  readonly hostDoes: (change: Partial<CodeHost>) => void;
  readonly host: CodeHost;
  readonly queue: (command: string, patch?: SettingsPatch) => Promise<Submitted>;
  readonly submit: (key: QueueKey) => ReturnType<typeof submit>;
  /** #1 after one sweep. */
  readonly entry: (key: QueueKey) => Promise<Entry>;
  readonly reaches: (key: QueueKey, is: (entry: Entry) => boolean) => Promise<Entry>;
  readonly stop: () => Promise<void>;
};

export const unreachable = async (): Promise<never> => {
  throw new HostUnavailable("the network is down");
};

export const drafted = (repo: TestRepository, draft: boolean): Promise<void> =>
  writePull(repo.dir, 1, { state: "open", draft, base: null });

export async function anApplication(): Promise<TestApplication> {
  const org = orgSlug("local");
  const folder = aFolder();
  const table = await startTable();
  const host = await createGitHost({
    org,
    host: "git.local",
    repositories: folder,
    work: join(folder, "work"),
    news: { checksMoved: () => {}, refsMoved: () => {}, reported: async () => true },
    log: silentLog,
    clock: systemClock,
    sandbox: await findSandbox({ hide: [], log: silentLog }),
  });
  let now = epochMs(Date.now());
  let present: CodeHost = host;
  const uploads = {
    grantUpload: unreachable,
    readUpload: unreachable,
    grantPut: unreachable,
    removeUpload: unreachable,
  };
  const parts = { table, log: silentLog, blobs: blobFolder(join(folder, "blobs")), uploads, hosts: () => present };
  const app: Wiring = { ...wired({ ...parts, clock: () => now }), clock: () => now };
  useWiring(app);
  let made = 0;

  const entry = async (key: QueueKey): Promise<Entry> => {
    await sweep();
    const found = await getPullRequest(app, key, { number: 1 }, false);
    if (!found.ok) throw new Error(found.fault.message);
    return found.value.entry;
  };
  const submitted = (key: QueueKey) => submit(app, { key, prNumber: 1, by: "test" }, () => undefined);
  return {
    app,
    host,
    passes: (ms) => {
      now = later(now, ms);
    },
    hostDoes: (change) => {
      present = { ...host, ...change };
    },
    queue: async (command, patch = {}) => {
      const repo = aRepository(folder, `acme/app-${(made += 1)}`);
      repo.commit("main", { files: config({ unit: command }) });
      repo.pullRequest(1, { files: { "a.txt": "1\n" } });
      const key: QueueKey = { org, repo: repo.key, branch: "main" };
      await createQueue(app, { key, repo: repo.key, patch, state: undefined, by: "test" }, () => undefined);
      return { repo, key };
    },
    submit: submitted,
    entry,
    reaches: (key, is) => eventually(() => entry(key), is),
    stop: async () => {
      await host.stop();
      await table.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
