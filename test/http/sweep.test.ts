import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../shared/kernel/time.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { explainPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import { anApplication, drafted, type TestApplication, unreachable } from "../support/application.ts";

/** In this application the host's news lead nowhere and no stream runs: all that happens, happens by sweeping. */
let service: TestApplication;
beforeAll(async () => {
  service = await anApplication();
});
afterEach(() => service.clear());
afterAll(() => service.stop());

const isTesting = (entry: Entry): boolean => entry.state === "TESTING";
const hasEnded = (entry: Entry): boolean => entry.endedAt !== null;

describe("the sweep alone", () => {
  it("carries a PR from its submission to its landing", async () => {
    const { key, repo } = await service.queue("true");
    await service.submit(key);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
    expect(repo.git("log", "--format=%s", "-1", "main").trim()).toMatch(/\(#1\)$/u);
  });

  it.each([
    ["a push", "PULL_REQUEST_PUSHED", (repo) => repo.pullRequest(1, { files: { "b.txt": "2\n" } })],
    ["a draft", "PULL_REQUEST_DRAFTED", (repo) => drafted(repo, true)],
    ["a ref that is gone", "PULL_REQUEST_GONE", (repo) => repo.git("update-ref", "-d", "refs/pull/1/head")],
  ] as const satisfies readonly (readonly [string, string, (repo: Repository) => unknown])[])(
    "notices %s of which nobody told",
    async (_, reason, happens) => {
      const { key, repo } = await service.queue("sleep 30");
      await service.submit(key);
      await service.reaches(key, isTesting);
      await happens(repo);
      expect((await service.reaches(key, hasEnded)).conclusion?.reason).toBe(reason);
    },
  );

  it("brings an entry the targets that were stored for its head and of which nobody told it", async () => {
    const { key, repo } = await service.queue("sleep 30");
    await service.submit(key);
    const { headSha } = await service.reaches(key, isTesting);
    if (headSha === null) throw new Error("no head");
    const { targets } = await service.app.targets.put(key.org, key.repo, 1, headSha, ["web"], "UPLOAD");
    expect((await service.reaches(key, (entry) => entry.targets !== null)).targets).toEqual(targets);
    const later = await service.app.targets.put(key.org, repo.key, 1, headSha, "ALL", "UPLOAD");
    expect((await service.reaches(key, (entry) => entry.targets?.kind === "ALL")).targets).toEqual(later.targets);
  });

  it("brings a PR that is pushed to while NOT_READY the targets that were uploaded for its new head", async () => {
    const { key, repo } = await service.queue("sleep 30");
    await drafted(repo, true);
    await service.submit(key);
    await service.reaches(key, (entry) => entry.state === "NOT_READY" && entry.pr !== null);
    const head = repo.pullRequest(1, { files: { "b.txt": "2\n" } });
    const { targets } = await service.app.targets.put(key.org, key.repo, 1, head, ["api"], "UPLOAD");
    const entry = await service.reaches(key, (one) => one.headSha === head && one.targets !== null);
    expect(entry.targets).toEqual(targets);
  });

  it("leaves alone what was found from paths: that is told by whoever finds it, and found anew when it is needed", async () => {
    const { key, repo } = await service.queue("sleep 30");
    await service.app.targets.put(key.org, key.repo, 1, repo.sha("refs/pull/1/head"), ["web"], "PATHS");
    await service.submit(key);
    await service.reaches(key, isTesting);
    for (const _ of [1, 2, 3]) expect((await service.entry(key)).targets).toBeNull();
  });

  it("tells nothing anew while targets are being compared, and explains why that takes so long", async () => {
    const { key, repo } = await service.queue("sleep 30", { mode: "PARALLEL" });
    const { targets } = service.app;
    const enters = async (prNumber: number, name: string) => {
      const head = repo.pullRequest(prNumber, { files: { [`${prNumber}.txt`]: "1\n" } });
      await targets.put(key.org, key.repo, prNumber, head, [name], "UPLOAD");
      await submit(service.app, { key, prNumber, by: "test" }, () => undefined);
      await sweep();
    };
    await enters(2, "web");
    await enters(1, "api");
    const { headSha } = await service.reaches(key, (entry) => entry.lane !== null);
    if (headSha === null) throw new Error("no head");
    Object.assign(service.app, { targets: { ...targets, hashes: unreachable } });
    const { targets: later } = await targets.put(key.org, key.repo, 1, headSha, ["docs"], "UPLOAD");
    await service.reaches(key, (one) => one.comparing !== null);
    const before = await service.app.queues.entry(key, 1);
    for (const _ of [1, 2, 3]) await sweep();
    expect(await service.app.queues.entry(key, 1)).toEqual(before);
    const told = await explainPullRequest(service.app, key, 1);
    expect(JSON.stringify(told)).toMatch(/its impacted targets could not be compared .+ it is tried again at/u);
    Object.assign(service.app, { targets });
    service.passes(MINUTE_MS);
    const entry = await service.reaches(key, (one) => one.comparing === null);
    expect(entry).toMatchObject({ targets: later, lane: { overlaps: [] } });
  });

  it("writes nothing about a queue in which nothing has changed", async () => {
    const { key } = await service.queue("sleep 30");
    await service.submit(key);
    await service.reaches(key, isTesting);
    for (const _ of [1, 2, 3]) await service.entry(key);
    const before = (await service.app.queues.load(key))?.version;
    for (const _ of [1, 2, 3]) {
      service.passes(MINUTE_MS);
      await service.entry(key);
    }
    const after = await service.app.queues.load(key);
    expect({ version: after?.version, inbox: after?.inbox }).toEqual({ version: before, inbox: [] });
  });
});

type Repository = Awaited<ReturnType<TestApplication["queue"]>>["repo"];
