/**
 * The service's own workers, use cases, table and git host in this process, on a clock of the test's, with a host that
 * can be made to fail. For what cannot be driven from outside: hours that pass, a host that hangs.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { systemWaiting } from "../../functions/waiting.ts";
import { createGitHost } from "../../shared/code-host/git/host.ts";
import { createLauncher } from "../../shared/code-host/git/launcher.ts";
import { writePull } from "../../shared/code-host/git/pulls.ts";
import { findSandbox } from "../../shared/code-host/git/sandbox.ts";
import { type CodeHost, HostUnavailable } from "../../shared/code-host/port.ts";
import { orgSlug, type QueueKey } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { epochMs, later, systemClock } from "../../shared/kernel/time.ts";
import { getPullRequest } from "../../shared/queue/app/pull-requests.ts";
import type { Waiting } from "../../shared/kernel/waiting.ts";
import { createQueue, deleteQueue } from "../../shared/queue/app/queues.ts";
import type { SettingsPatch } from "../../shared/queue/app/settings.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import { cancel } from "../../shared/queue/app/wishes.ts";
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
  /** In place of the machine's timers, from now on. */
  readonly waits: (change: Partial<Waiting>) => void;
  /** Takes out what is in the queues that were made, and deletes them: each costs every later sweep. */
  readonly clear: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export const unreachable = async (): Promise<never> => {
  throw new HostUnavailable("the network is down");
};

export const drafted = (repo: TestRepository, draft: boolean): Promise<void> =>
  writePull(repo.dir, 1, { state: "open", draft, base: null });

async function cleared(app: Wiring, key: QueueKey): Promise<void> {
  const nothing = () => undefined;
  for (const { entry } of (await app.queues.load(key))?.entries ?? [])
    await cancel(app, { key, prNumber: entry.prNumber, by: "test" }, nothing);
  const deleted = async () => {
    const done = await deleteQueue(app, key, nothing);
    if (!done.ok && done.fault.code !== "QUEUE_NOT_FOUND") await sweep();
    return done.ok || done.fault.code;
  };
  await eventually(deleted, (is) => is === true || is === "QUEUE_NOT_FOUND", { what: "the end of a queue" });
}

export async function anApplication(): Promise<TestApplication> {
  const org = orgSlug("local");
  const folder = aFolder();
  const table = await startTable();
  const launcher = createLauncher();
  const host = await createGitHost({
    org,
    host: "git.local",
    repositories: folder,
    work: join(folder, "work"),
    news: { checksMoved: () => {}, refsMoved: () => {}, reported: async () => true },
    log: silentLog,
    clock: systemClock,
    launch: launcher.launch,
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
  let waiting: Waiting = systemWaiting;
  const app: Wiring = {
    ...wired({ ...parts, clock: () => now }),
    waiting: {
      pause: (ms) => waiting.pause(ms),
      within: (ms, work) => waiting.within(ms, work),
      random: () => waiting.random(),
    },
  };
  useWiring(app);
  let made = 0;
  const queues: QueueKey[] = [];

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
    waits: (change) => {
      waiting = { ...systemWaiting, ...change };
    },
    clear: async () => {
      for (const key of queues.splice(0)) await cleared(app, key);
    },
    queue: async (command, patch = {}) => {
      const repo = aRepository(folder, `acme/app-${(made += 1)}`);
      repo.commit("main", { files: config({ unit: command }) });
      repo.pullRequest(1, { files: { "a.txt": "1\n" } });
      const key: QueueKey = { org, repo: repo.key, branch: "main" };
      queues.push(key);
      await createQueue(app, { key, repo: repo.key, patch, state: undefined, by: "test" }, () => undefined);
      return { repo, key };
    },
    submit: submitted,
    entry,
    reaches: (key, is) => eventually(() => entry(key), is),
    stop: async () => {
      await host.stop();
      await launcher.stop();
      await table.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
