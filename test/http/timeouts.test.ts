/** Hours and days pass here: the service's own workers, table and git host in this process, on a clock of the test's. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { useWiring, type Wiring, wired } from "../../functions/wiring.ts";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { createGitHost, type GitHost } from "../../shared/code-host/git/host.ts";
import { writePull } from "../../shared/code-host/git/pulls.ts";
import { findSandbox } from "../../shared/code-host/git/sandbox.ts";
import { HostUnavailable } from "../../shared/code-host/port.ts";
import { orgSlug, type QueueKey } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { DAY_MS, epochMs, HOUR_MS, later, MINUTE_MS, SECOND_MS, systemClock } from "../../shared/kernel/time.ts";
import { getPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { createQueue, updateQueue } from "../../shared/queue/app/queues.ts";
import type { SettingsPatch } from "../../shared/queue/app/settings.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder, aRepository, config, type TestRepository } from "../support/git-repository.ts";
import { startTable, type TestTable } from "../support/table.ts";

const ORG = orgSlug("local");
let folder = "";
let table: TestTable;
let host: GitHost;
let app: Wiring;
let now = epochMs(Date.now());
let isDown = false;
beforeAll(async () => {
  folder = aFolder();
  table = await startTable();
  host = await createGitHost({
    org: ORG,
    host: "git.local",
    repositories: folder,
    work: join(folder, "work"),
    news: { checksMoved: () => {}, refsMoved: () => {} },
    log: silentLog,
    clock: systemClock,
    sandbox: await findSandbox({ hide: [], log: silentLog }),
  });
  const unreachable = (): never => {
    throw new HostUnavailable("the network is down");
  };
  const door = { grantUpload: unreachable, readUpload: unreachable };
  const statuses: GitHost["statuses"] = async (repo, run) => (isDown ? unreachable() : host.statuses(repo, run));
  const parts = { table, log: silentLog, blobs: blobFolder(join(folder, "blobs")), uploads: door };
  app = { ...wired({ ...parts, hosts: () => ({ ...host, statuses }) }), clock: () => now };
  useWiring(app);
});
afterAll(async () => {
  await host.stop();
  await table.stop();
  rmSync(folder, { recursive: true, force: true });
});

const passes = (ms: number): void => {
  now = later(now, ms);
};

let made = 0;
async function aQueueOf(command: string, patch: SettingsPatch, draft = false) {
  const repo = aRepository(folder, `acme/app-${(made += 1)}`);
  repo.commit("main", { files: config({ unit: command }) });
  repo.pullRequest(1, { files: { "a.txt": "1\n" } });
  if (draft) await drafted(repo, true);
  const key: QueueKey = { org: ORG, repo: repo.key, branch: "main" };
  await createQueue(app, { key, repo: repo.key, patch, state: undefined, by: "test" }, () => undefined);
  await submit(app, { key, prNumber: 1, by: "test" }, () => undefined);
  return { repo, key };
}
const drafted = (repo: TestRepository, draft: boolean): Promise<void> =>
  writePull(repo.dir, 1, { state: "open", draft, base: null });

async function entryOf(key: QueueKey): Promise<Entry> {
  await sweep();
  const found = await getPullRequest(app, key, { number: 1 }, false);
  if (!found.ok) throw new Error(found.fault.message);
  return found.value.entry;
}
const reaches = (key: QueueKey, is: (entry: Entry) => boolean): Promise<Entry> => eventually(() => entryOf(key), is);

const processesWith = (word: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  }).length;
const runs = (word: string, is: boolean): Promise<boolean> =>
  eventually(
    () => processesWith(word) > 0,
    (found) => found === is,
  );

describe("testingTimeoutMinutes", () => {
  it("a check that never ends is repeated once and then fails its PR with TESTING_TIMEOUT, and its processes end", async () => {
    const { key } = await aQueueOf("sleep 4242.31", { testingTimeoutMinutes: 1 });
    await reaches(key, (entry) => entry.state === "TESTING");
    await runs("4242.31", true);
    passes(59 * SECOND_MS);
    expect((await entryOf(key)).state).toBe("TESTING");
    const failed = await eventually(
      () => {
        passes(20 * SECOND_MS);
        return entryOf(key);
      },
      (entry) => entry.state === "FAILED",
    );
    const run = failed.verifiedBy === null ? undefined : await app.queues.endedRun(key, failed.verifiedBy);
    expect(run?.run.statuses.map((status) => status.url)).toEqual([expect.stringMatching(/unit\.2\.log$/u)]);
    expect(failed.conclusion).toMatchObject({ reason: "TESTING_TIMEOUT" });
    expect(failed.conclusion?.message).toContain("unit");
    await sweep();
    await runs("4242.31", false);
  });

  it("0 means none", async () => {
    const { key } = await aQueueOf("sleep 4242.32", { testingTimeoutMinutes: 0 });
    await reaches(key, (entry) => entry.state === "TESTING");
    passes(30 * DAY_MS);
    await sweep();
    expect((await entryOf(key)).state).toBe("TESTING");
    await runs("4242.32", true);
  });

  it("a host that cannot be asked at the deadline fails nobody: what it says afterwards counts", async () => {
    const { key } = await aQueueOf("true", { testingTimeoutMinutes: 1 });
    isDown = true;
    await reaches(key, (entry) => entry.state === "TESTING");
    passes(HOUR_MS);
    await sweep();
    passes(HOUR_MS);
    expect((await entryOf(key)).state).toBe("TESTING");
    isDown = false;
    passes(HOUR_MS);
    expect((await reaches(key, (entry) => entry.endedAt !== null)).state).toBe("MERGED");
  });
});

describe("notReadyTimeoutHours", () => {
  const isCancelled = (entry: Entry): boolean => entry.state === "CANCELLED";

  it("a PR that does not become ready leaves the queue", async () => {
    const { key } = await aQueueOf("true", { notReadyTimeoutHours: 2 }, true);
    await reaches(key, (entry) => entry.state === "NOT_READY");
    passes(119 * MINUTE_MS);
    expect((await entryOf(key)).state).toBe("NOT_READY");
    passes(2 * MINUTE_MS);
    expect((await reaches(key, isCancelled)).conclusion).toMatchObject({ reason: "NOT_READY_TIMEOUT" });
  });

  it("stands still while the queue itself admits nobody", async () => {
    const { repo, key } = await aQueueOf("true", { notReadyTimeoutHours: 2 }, true);
    await reaches(key, (entry) => entry.state === "NOT_READY");
    const set = async (state: "PAUSED" | "RUNNING") => {
      await updateQueue(app, { key, patch: {}, state, by: "test" }, () => undefined);
      await sweep();
    };
    await set("PAUSED");
    passes(10 * HOUR_MS);
    await set("RUNNING");
    expect((await entryOf(key)).state).toBe("NOT_READY");
    await drafted(repo, false);
    passes(11 * MINUTE_MS);
    expect((await reaches(key, (entry) => entry.endedAt !== null)).state).toBe("MERGED");
  });
});
