import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { maintenanceWindow, maintenanceWindowList } from "../../shared/schemas/maintenance.ts";
import { errorOf } from "../support/contract.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { aService, type Fields, type LocalService, type QueueClient, shown } from "../support/service.ts";

let service: LocalService;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(() => gate.clear());
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

type Window = z.output<typeof maintenanceWindow>;

const MINUTE = 60_000;
const from = (ms: number): string => new Date(Date.now() + ms).toISOString();

const schedules = async (queue: QueueClient, fields: Fields): Promise<Window> =>
  shown(
    maintenanceWindow,
    await queue.asks("/scheduleMaintenance", { action: "drain", durationMinutes: 60, ...fields }),
  );
const listed = async (queue: QueueClient): Promise<readonly Window[]> =>
  shown(maintenanceWindowList, await queue.asks("/listMaintenanceWindows")).windows;
const cancels = async ({ windowId }: Window): Promise<Window> =>
  shown(maintenanceWindow, await service.asks("/cancelMaintenance", { windowId }));
const comesTo = (queue: QueueClient, state: string) =>
  service.until(queue.view, (view) => view.state === state, { what: `the state ${state}` });
/** A window that is open already and ends in so many minutes. */
const endingIn = (minutes: number): Fields => ({ startsAt: from((minutes - 60) * MINUTE), durationMinutes: 60 });

async function aQueueWith(...numbers: readonly number[]) {
  const made = await service.queue({ checks: { unit: gate.command } });
  for (const number of numbers) made.repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" } });
  return made;
}

describe("a window that drains", () => {
  it("lets go on who is in, admits nobody, and when it is over admits them by itself", async () => {
    const { queue } = await aQueueWith(1, 2);
    await queue.submit(1);
    await queue.reaches(1, "TESTING");
    const window = await schedules(queue, { ...endingIn(5), reason: "new database" });
    expect(window).toMatchObject({ state: "OPEN", action: "DRAIN", reason: "new database", schedule: null });
    expect(await queue.view()).toMatchObject({
      state: "DRAINING",
      stateReason: `maintenance window until ${window.occurrences[0]?.endsAt}: new database`,
    });
    await queue.submit(2);
    gate.pass("1");
    expect((await queue.ends(1)).state).toBe("MERGED");
    expect(await queue.view()).toMatchObject({ state: "DRAINING" });
    expect((await queue.get(2)).state).toBe("NOT_READY");
    expect(JSON.stringify(await queue.explain(2))).toContain("new database");
    gate.pass("2");
    await service.passes(5 * MINUTE);
    expect((await queue.ends(2)).state).toBe("MERGED");
    expect(await queue.view()).toMatchObject({ state: "RUNNING", stateReason: null });
    expect(await listed(queue)).toEqual([]);
  });

  it("with allowUrgent lets urgent pull requests through, and nobody else", async () => {
    const { queue } = await aQueueWith(3, 4);
    await schedules(queue, { allowUrgent: true });
    await queue.submit(3);
    await queue.submit(4, { priority: "urgent" });
    gate.pass("4");
    expect((await queue.ends(4)).state).toBe("MERGED");
    expect((await queue.get(3)).state).toBe("NOT_READY");
  });
});

describe("a window that pauses", () => {
  it("opens when its time has come: what is tested ends, nothing lands until the window is over", async () => {
    const { queue, repo } = await aQueueWith(5);
    const tip = repo.sha("main");
    await queue.submit(5);
    await queue.reaches(5, "TESTING");
    const window = await schedules(queue, { action: "pause", startsAt: from(5 * MINUTE) });
    expect(window.state).toBe("SCHEDULED");
    await service.passes(5 * MINUTE);
    await comesTo(queue, "PAUSED");
    gate.pass("5");
    await queue.reaches(5, "TESTS_PASSED");
    expect(repo.sha("main")).toBe(tip);
    expect((await listed(queue)).map(({ windowId, state }) => [windowId, state])).toEqual([[window.windowId, "OPEN"]]);
    expect(await cancels(window)).toMatchObject({ state: "CANCELLED", occurrences: [] });
    expect((await queue.ends(5)).state).toBe("MERGED");
  });

  it("outlives a restart of the service, and so does what is to come", async () => {
    const { queue } = await aQueueWith();
    await schedules(queue, { action: "pause", durationMinutes: 60 });
    const { queue: other } = await aQueueWith();
    await schedules(other, { action: "pause", startsAt: from(5 * MINUTE) });
    await service.again();
    expect((await queue.view()).state).toBe("PAUSED");
    expect((await other.view()).state).toBe("RUNNING");
    await service.passes(5 * MINUTE);
    await comesTo(other, "PAUSED");
  });
});

describe("the operator and the windows", () => {
  it("a window never writes the operator's state: the strictest counts, and what was set stays when it is over", async () => {
    const { queue } = await aQueueWith();
    const window = await schedules(queue, {});
    await queue.update({ state: "PAUSED", reason: "incident" });
    expect(await queue.view()).toMatchObject({ state: "PAUSED", stateReason: expect.stringContaining("incident") });
    await cancels(window);
    expect((await queue.view()).state).toBe("PAUSED");
    const pause = await schedules(queue, { action: "pause" });
    await queue.update({ state: "DRAINING" });
    expect((await queue.view()).state).toBe("PAUSED");
    await cancels(pause);
    expect((await queue.view()).state).toBe("DRAINING");
  });

  it("RUNNING ends what is open, says which, and leaves what is to come", async () => {
    const { queue } = await aQueueWith(6);
    const open = await schedules(queue, { action: "pause" });
    const other = await schedules(queue, { action: "drain" });
    const later = await schedules(queue, { startsAt: from(60 * MINUTE) });
    const running = await queue.update({ state: "RUNNING", reason: "enough" });
    expect(running.state).toBe("RUNNING");
    expect(running.stateReason).toContain("enough");
    for (const { windowId } of [open, other]) expect(running.stateReason).toContain(windowId);
    expect((await listed(queue)).map((one) => one.windowId)).toEqual([later.windowId]);
    expect(await cancels(open)).toMatchObject({ state: "ENDED" });
    await queue.submit(6);
    gate.pass("6");
    expect((await queue.ends(6)).state).toBe("MERGED");
    expect(await schedules(queue, { startsAt: from(-MINUTE) })).toMatchObject({ state: "OPEN" });
    expect((await queue.view()).state).toBe("DRAINING");
  });

  it("a deleted queue takes its windows along: one that is made anew under its name has none", async () => {
    const { queue } = await aQueueWith();
    const window = await schedules(queue, {});
    const weekly = await schedules(queue, { schedule: "0 22 ? * FRI *" });
    await queue.remove();
    for (const { windowId } of [window, weekly])
      expect((await service.asks("/cancelMaintenance", { windowId })).status).toBe(404);
    await queue.asks("/createQueue");
    expect(await queue.view()).toMatchObject({ state: "RUNNING" });
    expect(await listed(queue)).toEqual([]);
  });
});

describe("a schedule", () => {
  it("is answered with its next ten occurrences, by the clocks of its time zone", async () => {
    const { queue } = await aQueueWith();
    const window = await schedules(queue, {
      action: "PAUSE",
      schedule: "cron(30 2 ? * sun *)",
      timeZone: "Europe/Berlin",
      durationMinutes: 90,
    });
    expect(window).toMatchObject({
      state: "SCHEDULED",
      schedule: "30 2 ? * SUN *",
      timeZone: "Europe/Berlin",
      startsAt: null,
      createdBy: "admin",
    });
    expect(window.occurrences).toHaveLength(10);
    const local = new Intl.DateTimeFormat("en-GB", {
      timeZone: "Europe/Berlin",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
    });
    for (const { startsAt, endsAt } of window.occurrences) {
      expect(local.format(new Date(startsAt))).toMatch(/^Sun,? 02:30$/u);
      expect(Date.parse(endsAt) - Date.parse(startsAt)).toBe(90 * MINUTE);
    }
    expect(await listed(queue)).toEqual([window]);
  });
});

describe("what cannot be scheduled", () => {
  const issuesOf = async (queue: QueueClient, fields: Fields) => {
    const answer = await queue.asks("/scheduleMaintenance", { action: "drain", durationMinutes: 60, ...fields });
    return { status: answer.status, issues: errorOf(answer).issues ?? [] };
  };

  it("is told with all that is wrong with it at once", async () => {
    const { queue } = await aQueueWith();
    const { status, issues } = await issuesOf(queue, {
      action: "stop",
      schedule: "60 24 ? * FRI *",
      startsAt: "tomorrow",
      timeZone: "Berlin",
      durationMinutes: 0,
      allowUrgent: "yes",
    });
    expect(status).toBe(400);
    expect([...new Set(issues.map(({ path }) => path))].sort()).toEqual(
      ["action", "allowUrgent", "durationMinutes", "schedule", "startsAt", "timeZone"].sort(),
    );
    expect(issues.filter(({ path }) => path === "schedule").length).toBeGreaterThanOrEqual(2);
  });

  it.each<readonly [string, Fields, string]>([
    ["both startsAt and schedule", { startsAt: "2027-01-01T00:00:00Z", schedule: "0 22 ? * FRI *" }, "schedule"],
    ["a time zone without a schedule", { timeZone: "Europe/Berlin" }, "timeZone"],
    ["a window that is over", { startsAt: "2020-01-01T00:00:00Z" }, "startsAt"],
    ["a window in a hundred years", { startsAt: "2126-01-01T00:00:00Z" }, "startsAt"],
    ["more than a month", { durationMinutes: 31 * 24 * 60 + 1 }, "durationMinutes"],
    ["a day that never comes", { schedule: "0 0 31 2 ? *" }, "schedule"],
    ["years that are over", { schedule: "0 0 1 1 ? 2020" }, "schedule"],
    ["openings that meet", { schedule: "0 * * * ? *", durationMinutes: 61 }, "durationMinutes"],
  ])("%s", async (_, fields, path) => {
    const { queue } = await aQueueWith();
    const { status, issues } = await issuesOf(queue, fields);
    expect([status, issues.map((issue) => issue.path)]).toEqual([400, [path]]);
    expect((await queue.view()).state).toBe("RUNNING");
  });

  it("more than twenty windows of one queue that are not over", async () => {
    const { queue } = await aQueueWith();
    const first = await schedules(queue, { startsAt: from(60 * MINUTE) });
    for (let at = 1; at < 20; at += 1) await schedules(queue, { schedule: `0 ${at} * * ? *`, durationMinutes: 1 });
    const full = await queue.asks("/scheduleMaintenance", { action: "drain", durationMinutes: 1 });
    expect([full.status, errorOf(full).code]).toEqual([409, "TOO_MANY_MAINTENANCE_WINDOWS"]);
    await cancels(first);
    await schedules(queue, {});
    expect(await listed(queue)).toHaveLength(20);
    await queue.remove();
    expect((await queue.asks("/listMaintenanceWindows")).status).toBe(404);
  });

  it("a window of a queue that there is not; a cancel of none", async () => {
    const { queue } = await aQueueWith();
    const fields = { action: "drain", durationMinutes: 1, targetBranch: "none" };
    expect(errorOf(await queue.asks("/scheduleMaintenance", fields)).code).toBe("QUEUE_NOT_FOUND");
    const cancelled = await service.asks("/cancelMaintenance", { windowId: "none" });
    expect([cancelled.status, errorOf(cancelled).code]).toEqual([404, "MAINTENANCE_WINDOW_NOT_FOUND"]);
  });
});

describe("two organizations", () => {
  it("neither see nor cancel each other's windows, on queues of the same name", async () => {
    const { queue, repo } = await aQueueWith();
    const window = await schedules(queue, {});
    const other = service.as(await service.token("create", "--org", "other", "--scopes", "read,submit,admin"));
    const theirs = service.client(repo, "main", other);
    await theirs.asks("/createQueue");
    expect((await theirs.view()).state).toBe("RUNNING");
    expect((await other("/listMaintenanceWindows", {})).body).toEqual({ windows: [] });
    const { windowId } = window;
    const refused = await other("/cancelMaintenance", { windowId });
    expect([refused.status, errorOf(refused).code]).toEqual([404, "MAINTENANCE_WINDOW_NOT_FOUND"]);
    const own = await schedules(theirs, { action: "pause" });
    expect((await theirs.view()).state).toBe("PAUSED");
    expect((await queue.view()).state).toBe("DRAINING");
    const all = shown(maintenanceWindowList, await service.asks("/listMaintenanceWindows", {})).windows;
    expect(all.map((one) => one.windowId)).toContain(windowId);
    expect(all.map((one) => one.windowId)).not.toContain(own.windowId);
  });

  it("a token without the scope admin lists windows and changes none", async () => {
    const { queue, repo } = await aQueueWith();
    const { windowId } = await schedules(queue, {});
    const reader = service.as(await service.token("create", "--org", "local", "--scopes", "read"));
    const theirs = service.client(repo, "main", reader);
    expect((await listed(theirs)).map((one) => one.windowId)).toEqual([windowId]);
    expect((await reader("/cancelMaintenance", { windowId })).status).toBe(403);
    const scheduled = await theirs.asks("/scheduleMaintenance", { action: "drain", durationMinutes: 1 });
    expect(scheduled.status).toBe(403);
  });
});

describe("the same request again", () => {
  it("with its Idempotency-Key is the same window, and the same answer", async () => {
    const { queue } = await aQueueWith();
    const headers = {
      "content-type": "application/json",
      "x-api-token": service.server().adminToken,
      "idempotency-key": "once",
    };
    const fields = { action: "drain", durationMinutes: 60, schedule: "0 22 ? * FRI *" };
    const answers = [];
    for (const _ of [1, 2]) answers.push(await queue.asks("/scheduleMaintenance", fields, { headers }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect(answers[1]?.headers.get("idempotency-replayed")).toBe("true");
    expect(await listed(queue)).toHaveLength(1);
    const [window] = await listed(queue);
    if (window === undefined) throw new Error("no window");
    await cancels(window);
    expect((await cancels(window)).state).toBe("CANCELLED");
  });
});

it("every answer is what the document promises", () => {
  expect(service.breaches()).toEqual([]);
});
