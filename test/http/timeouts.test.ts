import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../shared/kernel/time.ts";
import { LATE } from "../../shared/kernel/waiting.ts";
import { explainPullRequest } from "../../shared/queue/app/pull-requests.ts";
import { updateQueue } from "../../shared/queue/app/queues.ts";
import { cancel, restart } from "../../shared/queue/app/wishes.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { anApplication, drafted, type TestApplication, unreachable } from "../support/application.ts";
import { eventually } from "../support/eventually.ts";

let service: TestApplication;
beforeAll(async () => {
  service = await anApplication();
});
afterEach(async () => {
  service.hostDoes({});
  service.waits({});
  await service.clear();
});
afterAll(async () => {
  await service.stop();
});

const isTesting = (entry: Entry): boolean => entry.state === "TESTING";
const hasEnded = (entry: Entry): boolean => entry.endedAt !== null;

const isRunning = (word: string): boolean =>
  readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  });

describe("testingTimeoutMinutes", () => {
  it("a check that never ends is repeated once, then fails its PR with TESTING_TIMEOUT, and its processes end", async () => {
    const { key } = await service.queue("sleep 4242.31", { testingTimeoutMinutes: 1 });
    await service.submit(key);
    await service.reaches(key, isTesting);
    await eventually(() => isRunning("4242.31"), Boolean);
    service.passes(59 * SECOND_MS);
    expect((await service.entry(key)).state).toBe("TESTING");
    const failed = await eventually(() => {
      service.passes(20 * SECOND_MS);
      return service.entry(key);
    }, hasEnded);
    expect(failed).toMatchObject({ state: "FAILED", conclusion: { reason: "TESTING_TIMEOUT" } });
    expect(failed.conclusion?.message).toContain("unit");
    const run = failed.verifiedBy === null ? undefined : await service.app.queues.endedRun(key, failed.verifiedBy);
    expect(run?.run.statuses.map((status) => status.url)).toEqual([expect.stringMatching(/unit\.2\.log$/u)]);
    await sweep();
    await eventually(
      () => isRunning("4242.31"),
      (is) => !is,
    );
  });

  it("0 means none", async () => {
    const { key } = await service.queue("sleep 4242.32", { testingTimeoutMinutes: 0 });
    await service.submit(key);
    await service.reaches(key, isTesting);
    service.passes(30 * DAY_MS);
    await sweep();
    expect((await service.entry(key)).state).toBe("TESTING");
    await eventually(() => isRunning("4242.32"), Boolean);
  });

  it("a host that cannot be asked at the deadline fails nobody: what it says afterwards counts", async () => {
    const { key } = await service.queue("true", { testingTimeoutMinutes: 1 });
    await service.submit(key);
    service.hostDoes({ statuses: unreachable });
    await service.reaches(key, isTesting);
    service.passes(HOUR_MS);
    await sweep();
    service.passes(HOUR_MS);
    expect((await service.entry(key)).state).toBe("TESTING");
    service.hostDoes({});
    service.passes(HOUR_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
  });
});

describe("notReadyTimeoutHours", () => {
  it("a PR that does not become ready leaves the queue", async () => {
    const { repo, key } = await service.queue("true", { notReadyTimeoutHours: 2 });
    await drafted(repo, true);
    await service.submit(key);
    await service.entry(key);
    service.passes(119 * MINUTE_MS);
    expect((await service.entry(key)).state).toBe("NOT_READY");
    service.passes(2 * MINUTE_MS);
    const ended = await service.reaches(key, hasEnded);
    expect(ended).toMatchObject({ state: "CANCELLED", conclusion: { reason: "NOT_READY_TIMEOUT" } });
  });

  it("falls due also while the code host cannot be asked", async () => {
    const { repo, key } = await service.queue("true", { notReadyTimeoutHours: 2 });
    await drafted(repo, true);
    await service.submit(key);
    await service.entry(key);
    service.hostDoes({ tip: unreachable, pullRequest: unreachable });
    service.passes(3 * HOUR_MS);
    expect((await service.reaches(key, hasEnded)).conclusion).toMatchObject({ reason: "NOT_READY_TIMEOUT" });
  });

  it("stands still while the queue itself admits nobody", async () => {
    const { repo, key } = await service.queue("true", { notReadyTimeoutHours: 2 });
    await drafted(repo, true);
    await service.submit(key);
    await service.entry(key);
    const set = async (state: "PAUSED" | "RUNNING") => {
      await updateQueue(service.app, { key, patch: {}, state, by: "test" }, () => undefined);
      await sweep();
    };
    await set("PAUSED");
    service.passes(10 * HOUR_MS);
    await set("RUNNING");
    expect((await service.entry(key)).state).toBe("NOT_READY");
    await drafted(repo, false);
    service.passes(11 * MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
  });
});

describe("a code host that hangs or fails", () => {
  it("that does not answer within two seconds: the submission is accepted, NOT_READY, and looked up later", async () => {
    const { key } = await service.queue("true");
    const { promise: never } = Promise.withResolvers<never>();
    service.hostDoes({ pullRequest: () => never });
    const waits: number[] = [];
    service.waits({
      within: async (ms) => {
        waits.push(ms);
        return LATE;
      },
    });
    const submitted = await service.submit(key);
    expect(waits).toEqual([2 * SECOND_MS]);
    expect(submitted).toMatchObject({ ok: true, value: { entry: { state: "NOT_READY", pr: null } } });
    const told = await explainPullRequest(service.app, key, 1);
    expect(told).toMatchObject({ ok: true, value: { summary: expect.stringMatching(/no answer within 2 seconds/u) } });
    service.hostDoes({});
    service.passes(MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
  });

  it("that fails to build, for a while: the PR waits with the reason in its explanation, and is tested then", async () => {
    const { key } = await service.queue("true");
    service.hostDoes({ buildRun: unreachable });
    await service.submit(key);
    await service.reaches(key, (entry) => entry.broken !== null);
    const told = await explainPullRequest(service.app, key, 1);
    expect(told).toMatchObject({ ok: true, value: { summary: expect.stringMatching(/the network is down/u) } });
    service.hostDoes({});
    service.passes(MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
  });

  it("that cannot be asked where the target is: the explanation says what broke and when it is tried again", async () => {
    const { key } = await service.queue("true");
    service.hostDoes({ tip: unreachable });
    await service.submit(key);
    const blockers = async () => {
      await service.entry(key);
      const told = await explainPullRequest(service.app, key, 1);
      return told.ok ? told.value.blockers : [];
    };
    const broken = await eventually(blockers, (all) => all.some((one) => one.kind === "INFRASTRUCTURE"));
    expect(broken.map((one) => one.message).join()).toMatch(/the network is down.* tried again at 2/u);
    service.hostDoes({});
    service.passes(MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
    expect(await blockers()).toEqual([]);
  });

  it("while a PR is landing it can be neither cancelled nor restarted: 409 PULL_REQUEST_LANDING; then it has landed", async () => {
    const { repo, key } = await service.queue("true");
    service.hostDoes({ land: unreachable });
    await service.submit(key);
    await eventually(
      async () => {
        await service.entry(key);
        return service.app.queues.entry(key, 1);
      },
      (stored) => stored?.landing === true,
    );
    const wish = { key, prNumber: 1, by: "test" };
    for (const ask of [cancel, restart])
      expect(await ask(service.app, wish, () => undefined)).toMatchObject({
        ok: false,
        fault: { code: "PULL_REQUEST_LANDING" },
      });
    const told = await explainPullRequest(service.app, key, 1);
    expect(told).toMatchObject({ ok: true, value: { blockers: [{ kind: "LANDING" }] } });
    service.hostDoes({});
    service.passes(MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
    expect(repo.subjects("main")).toEqual(["A change (#1)", "A change"]);
  });

  it("whose answer about a landing is lost: the PR lands once", async () => {
    const { repo, key } = await service.queue("true");
    service.hostDoes({
      land: async (request) => {
        await service.host.land(request);
        return unreachable();
      },
    });
    await service.submit(key);
    await eventually(
      async () => {
        await service.entry(key);
        return repo.subjects("main").length;
      },
      (count) => count === 2,
    );
    expect((await service.entry(key)).endedAt).toBeNull();
    service.hostDoes({});
    service.passes(MINUTE_MS);
    expect((await service.reaches(key, hasEnded)).state).toBe("MERGED");
    expect(repo.subjects("main")).toEqual(["A change (#1)", "A change"]);
  });
});
