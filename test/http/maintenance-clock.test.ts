/** Maintenance windows on a clock of the test's, where nobody wakes a queue but the sweep and the test itself. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { handler as windowFunction } from "../../functions/workers/maintenance-window.ts";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import { orgSlug, type QueueKey } from "../../shared/kernel/ids.ts";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS, later, MINUTE_MS, toRfc3339 } from "../../shared/kernel/time.ts";
import { cancelMaintenance, listWindows, scheduleMaintenance } from "../../shared/queue/app/maintenance.ts";
import { createQueue, deleteQueue, getQueue, updateQueue } from "../../shared/queue/app/queues.ts";
import { settleWakings } from "../../shared/queue/app/wakings.ts";
import { ScheduleRefused, type Scheduler, type Waking } from "../../shared/scheduler/port.ts";
import { anApplication, type TestApplication } from "../support/application.ts";

let service: TestApplication;
beforeAll(async () => {
  service = await anApplication();
});
afterAll(() => service.stop());

let key: QueueKey;
beforeEach(async () => {
  ({ key } = await service.queue("true"));
});

afterEach(() => service.clear());

const nothing = () => undefined;
const now = (): EpochMs => service.app.clock();

async function state(): Promise<string> {
  const found = await getQueue(service.app, key);
  if (!found.ok) throw new Error(found.fault.message);
  return found.value.queue.state;
}

async function schedules(asked: Partial<Parameters<typeof scheduleMaintenance>[1]>) {
  const common = { key, action: "PAUSE", durationMinutes: 60, by: "test" } as const;
  const done = await scheduleMaintenance(service.app, { ...common, ...asked }, nothing);
  if (!done.ok) throw new Error(done.fault.message);
  return done.value.window;
}

const windows = async () => {
  const found = await listWindows(service.app, key.org, { repo: key.repo, branch: key.branch });
  return found.ok ? found.value : [];
};

/** To the next time at which clocks in UTC show `minute` past an hour. */
function passesTo(minute: number): void {
  const into = now() % HOUR_MS;
  service.passes((minute * MINUTE_MS - into + HOUR_MS) % HOUR_MS);
}

const runningByOperator = () => updateQueue(service.app, { key, patch: {}, state: "RUNNING", by: "test" }, nothing);

describe("a window that recurs, with no call from any schedule", () => {
  it("opens and ends every time, by sweeps alone; what it kept waiting lands by itself", async () => {
    passesTo(5);
    await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20 });
    for (const round of [1, 2, 3]) {
      passesTo(9);
      await sweep();
      expect([round, await state()]).toEqual([round, "RUNNING"]);
      passesTo(10);
      expect(await state()).toBe("PAUSED");
      if (round === 2) await service.submit(key);
      passesTo(29);
      const entry = round === 2 ? await service.entry(key) : undefined;
      expect([round, await state(), entry?.state]).toEqual([round, "PAUSED", round === 2 ? "NOT_READY" : undefined]);
      passesTo(30);
      expect(await state()).toBe("RUNNING");
      if (round === 2) expect((await service.reaches(key, (one) => one.endedAt !== null)).state).toBe("MERGED");
    }
  });

  it("wakes the sweep for itself: each edge is when the queue is due next", async () => {
    passesTo(5);
    await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20 });
    const dueAt = async () =>
      (await service.app.queues.due()).find((one) => one.key.repo.name === key.repo.name)?.wakeAt;
    await sweep();
    expect(await dueAt()).toBe(later(now(), 5 * MINUTE_MS));
    service.passes(5 * MINUTE_MS);
    await sweep();
    expect(await dueAt()).toBe(later(now(), 20 * MINUTE_MS));
    service.passes(20 * MINUTE_MS);
    await sweep();
    expect(await dueAt()).toBe(later(now(), 40 * MINUTE_MS));
  });

  it("is ended this once by an operator's RUNNING, and opens again the next time", async () => {
    passesTo(5);
    await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20 });
    passesTo(15);
    expect(await state()).toBe("PAUSED");
    await runningByOperator();
    expect(await state()).toBe("RUNNING");
    passesTo(20);
    expect(await state()).toBe("RUNNING");
    passesTo(10);
    expect(await state()).toBe("PAUSED");
  });

  it("counts from its creation: made while it would be open, it opens the next time", async () => {
    passesTo(15);
    await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20 });
    expect(await state()).toBe("RUNNING");
    passesTo(10);
    expect(await state()).toBe("PAUSED");
  });

  it("two that overlap are open from the first start to the last end", async () => {
    passesTo(5);
    await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20, action: "DRAIN" });
    await schedules({ startsAt: later(now(), 15 * MINUTE_MS), durationMinutes: 20 });
    const states: string[] = [];
    for (const minute of [9, 10, 19, 20, 39, 40]) {
      passesTo(minute);
      states.push(await state());
    }
    expect(states).toEqual(["RUNNING", "DRAINING", "DRAINING", "PAUSED", "PAUSED", "RUNNING"]);
  });
});

describe("limits", () => {
  it("an organization has a thousand windows that are not over, and no more", async () => {
    const { app } = service;
    await schedules({ startsAt: later(now(), DAY_MS) });
    const one = await app.windows.of(key);
    if (one === undefined) throw new Error("no queue");
    const full = { ...app.windows, ofOrganization: async () => Array.from({ length: 1_000 }, () => one) };
    const asked = { key, action: "PAUSE", durationMinutes: 1, by: "test" } as const;
    const refused = await scheduleMaintenance({ ...app, windows: full }, asked, nothing);
    expect(!refused.ok && refused.fault.code).toBe("TOO_MANY_MAINTENANCE_WINDOWS");
    const almost = { ...app.windows, ofOrganization: async () => Array.from({ length: 999 }, () => one) };
    expect((await scheduleMaintenance({ ...app, windows: almost }, asked, nothing)).ok).toBe(true);
  });

  it("what has been over for a week is taken away with the next window, and counts for nothing before", async () => {
    const kept = async () => (await service.app.windows.of(key))?.windows.length;
    for (let made = 0; made < 25; made += 1) {
      await schedules({ durationMinutes: 1 });
      service.passes(MINUTE_MS);
    }
    expect(await kept()).toBe(25);
    service.passes(8 * DAY_MS);
    await schedules({});
    expect(await kept()).toBe(6);
    await deleteQueue(service.app, key, nothing);
    await expect(state()).rejects.toThrow("No merge queue");
  });
});

const calls = (sent: unknown): Promise<void> => windowFunction(sent);
const queueIn = ({ org, repo, branch }: QueueKey) => ({ org, repo, branch });

describe("a schedule's call", () => {
  it("that comes early, twice, late or after the window changes nothing: the clock decides", async () => {
    const window = await schedules({ startsAt: later(now(), 10 * MINUTE_MS), durationMinutes: 10 });
    const call = () => calls({ windowId: window.id, queue: queueIn(key) });
    await call();
    expect(await state()).toBe("RUNNING");
    service.passes(10 * MINUTE_MS);
    for (const _ of [1, 2]) await call();
    expect(await state()).toBe("PAUSED");
    service.passes(10 * MINUTE_MS);
    await call();
    await sweep();
    expect(await state()).toBe("RUNNING");
    expect(await windows()).toEqual([]);
  });

  it("of a window that was cancelled, or whose queue is gone, opens nothing and has the schedule removed", async () => {
    const window = await schedules({ schedule: { cron: "0 * * * ? *", timeZone: "UTC" }, durationMinutes: 10 });
    await cancelMaintenance(service.app, { org: key.org, id: window.id, by: "test" }, nothing);
    const kept = recording();
    await settleWakings(service.app, kept.scheduler);
    await calls({ windowId: window.id, queue: queueIn(key) });
    expect(await state()).toBe("RUNNING");
    await settleWakings(service.app, kept.scheduler);
    expect(kept.removed.filter((name) => name === `${window.id}-start`)).toHaveLength(2);
    await deleteQueue(service.app, key, nothing);
    await calls({ windowId: window.id, queue: queueIn(key) });
  });
});

/** A scheduler that remembers what it was told. */
function recording() {
  const held = new Map<string, Waking>();
  const removed: string[] = [];
  const scheduler: Scheduler = {
    put: async (waking) => void held.set(waking.name, waking),
    remove: async (name) => {
      held.delete(name);
      removed.push(name);
    },
  };
  return { held, removed, scheduler };
}

describe("schedules follow the windows", () => {
  beforeEach(() => settleWakings(service.app, recording().scheduler));

  it("are made at the next sweep, removed with the window, and told once", async () => {
    const { held, scheduler } = recording();
    const startsAt = later(now(), HOUR_MS);
    const once = await schedules({ startsAt });
    const weekly = await schedules({ schedule: { cron: "0 22 ? * FRI *", timeZone: "Europe/Berlin" } });
    await settleWakings(service.app, scheduler);
    const when = Object.fromEntries([...held].map(([name, waking]) => [name, waking.when]));
    expect(when).toEqual({
      [`${once.id}-start`]: { kind: "AT", at: startsAt },
      [`${once.id}-end`]: { kind: "AT", at: later(startsAt, HOUR_MS) },
      [`${weekly.id}-start`]: { kind: "CRON", cron: "0 22 ? * FRI *", timeZone: "Europe/Berlin" },
    });
    expect(await service.app.windows.changes()).toEqual([]);
    await cancelMaintenance(service.app, { org: key.org, id: once.id, by: "test" }, nothing);
    await deleteQueue(service.app, key, nothing);
    await settleWakings(service.app, scheduler);
    expect([...held.keys()]).toEqual([]);
  });

  it("a window that recurs asks for its end when it begins", async () => {
    passesTo(5);
    const { held, scheduler } = recording();
    const window = await schedules({ schedule: { cron: "10 * * * ? *", timeZone: "UTC" }, durationMinutes: 20 });
    passesTo(10);
    await calls({ windowId: window.id, queue: queueIn(key) });
    await settleWakings(service.app, scheduler);
    expect(held.get(`${window.id}-end`)?.when).toEqual({ kind: "AT", at: later(now(), 20 * MINUTE_MS) });
  });

  it("one that cannot be told stays to be told, and keeps no other waiting", async () => {
    const { held, scheduler } = recording();
    const [one, two] = [
      await schedules({ startsAt: later(now(), DAY_MS) }),
      await schedules({ startsAt: later(now(), DAY_MS) }),
    ];
    const throttled: Scheduler = {
      ...scheduler,
      put: async (waking) => {
        if (waking.windowId === one.id) throw new Error("throttled");
        await scheduler.put(waking);
      },
    };
    await settleWakings(service.app, throttled);
    expect(new Set([...held.values()].map(({ windowId }) => windowId))).toEqual(new Set([two.id]));
    await settleWakings(service.app, scheduler);
    expect(held.size).toBe(4);
  });

  it("one that is refused for good is told no more, and the window opens all the same", async () => {
    await schedules({ startsAt: later(now(), MINUTE_MS) });
    const put = async (): Promise<never> => {
      throw new ScheduleRefused("no such time zone");
    };
    await settleWakings(service.app, { ...recording().scheduler, put });
    expect(await service.app.windows.changes()).toEqual([]);
    service.passes(MINUTE_MS);
    expect(await state()).toBe("PAUSED");
  });

  it("a wish that changes while it is granted stands", async () => {
    const window = await schedules({ startsAt: later(now(), DAY_MS) });
    const { held, scheduler } = recording();
    const meanwhile: Scheduler = {
      ...scheduler,
      put: async (waking) => {
        await cancelMaintenance(service.app, { org: key.org, id: window.id, by: "test" }, nothing);
        await scheduler.put(waking);
      },
    };
    await settleWakings(service.app, meanwhile);
    await settleWakings(service.app, scheduler);
    expect([...held.keys()]).toEqual([]);
  });
});

describe("a call of anybody's rule or calendar", () => {
  const said = () => ({
    action: "drain",
    repo: { host: key.repo.host, owner: key.repo.owner, name: key.repo.name },
    targetBranch: "main",
    durationMinutes: 30,
  });
  const anEvent = (id: string, at: EpochMs) => ({
    version: "0",
    id,
    "detail-type": "Calendar",
    source: "acme.calendar",
    account: "111122223333",
    time: toRfc3339(at),
    region: "eu-central-1",
    resources: [],
    detail: said(),
  });

  it("opens a window from the event's time on, once, however often the event comes", async () => {
    const event = anEvent("e-1", later(now(), -10 * MINUTE_MS));
    for (const _ of [1, 2, 3]) await calls(event);
    expect(await state()).toBe("DRAINING");
    const [window, ...others] = await windows();
    expect(others).toEqual([]);
    expect(window?.openings).toEqual([
      { startsAt: epochMs(Date.parse(event.time)), endsAt: later(epochMs(Date.parse(event.time)), 30 * MINUTE_MS) },
    ]);
    service.passes(20 * MINUTE_MS);
    expect(await state()).toBe("RUNNING");
    await calls(event);
    expect(await state()).toBe("RUNNING");
  });

  it("opens nothing again that was cancelled, or that an operator ended, also if it comes for the first time", async () => {
    const at = later(now(), -10 * MINUTE_MS);
    await calls(anEvent("e-2", at));
    const [window] = await windows();
    await cancelMaintenance(service.app, { org: key.org, id: window?.window.id ?? "", by: "test" }, nothing);
    await calls(anEvent("e-2", at));
    expect(await state()).toBe("RUNNING");
    await calls(anEvent("e-3", at));
    expect(await state()).toBe("DRAINING");
    await runningByOperator();
    for (const id of ["e-3", "e-4"]) await calls(anEvent(id, at));
    expect(await state()).toBe("RUNNING");
    await calls(anEvent("e-5", later(now(), 1)));
    service.passes(1);
    expect(await state()).toBe("DRAINING");
  });

  it("may be no event at all: its invocation, or the time it names, tells it from others", async () => {
    const context = { awsRequestId: "r-1" } as Parameters<typeof windowFunction>[1];
    for (const _ of [1, 2]) await windowFunction(said(), context);
    expect(await windows()).toHaveLength(1);
    for (const _ of [1, 2]) await windowFunction({ ...said(), time: toRfc3339(now()) }, context);
    expect(await windows()).toHaveLength(2);
    await windowFunction({ ...said(), action: "pause", time: toRfc3339(now()) }, context);
    expect(await windows()).toHaveLength(3);
    expect(await state()).toBe("PAUSED");
  });

  it("names everything that is wrong with it, and opens nothing", async () => {
    const bad = { action: "stop", repo: "acme", targetBranch: "", durationMinutes: "1" };
    await expect(calls(bad)).rejects.toThrow(/action .*durationMinutes .*repo .*targetBranch /u);
    await expect(calls({ ...anEvent("e-6", now()), detail: bad })).rejects.toThrow(/detail\.action/u);
    await expect(calls(anEvent("e-7", later(now(), -HOUR_MS)))).rejects.toThrow(/startsAt/u);
    await expect(calls({ ...said(), repo: "acme/other" })).rejects.toThrow(
      /No merge queue .*github\.com\/acme\/other/u,
    );
    await expect(calls({})).rejects.toThrow(/action is required/u);
    await expect(calls(null)).rejects.toThrow(/the event/u);
    await expect(calls({ windowId: 7, queue: {} })).rejects.toThrow(/windowId/u);
    expect(await windows()).toEqual([]);
  });

  it("must name the organization as soon as several have queues; it then means that one's", async () => {
    await calls(said());
    expect(await windows()).toHaveLength(1);
    const other = { ...key, org: orgSlug("other") };
    await createQueue(service.app, { key: other, repo: key.repo, patch: {}, state: undefined, by: "test" }, nothing);
    await expect(calls({ ...said(), action: "pause" })).rejects.toThrow(/orgUrlSlug/u);
    await calls({ ...said(), action: "pause", orgUrlSlug: "other" });
    const [mine, theirs] = await Promise.all([getQueue(service.app, key), getQueue(service.app, other)]);
    expect([mine, theirs].map((one) => one.ok && one.value.queue.state)).toEqual(["DRAINING", "PAUSED"]);
    await expect(calls({ ...said(), orgUrlSlug: "none" })).rejects.toThrow(/No merge queue/u);
  });
});
