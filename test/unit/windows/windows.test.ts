import { describe, expect, it } from "vitest";
import { queueId } from "../../../shared/kernel/ids.ts";
import { DAY_MS, type EpochMs, epochMs, HOUR_MS, later } from "../../../shared/kernel/time.ts";
import { isOver, keptUntil, type MaintenanceWindow, windowsAt } from "../../../shared/maintenance/windows.ts";
import { declaredSchedule, declaredWindow, directCall } from "../../../shared/schemas/maintenance.ts";

const NOON = epochMs(Date.parse("2026-03-27T12:00:00Z"));
const at = (hours: number): EpochMs => later(NOON, hours * HOUR_MS);

const aWindow = (change: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  id: "w",
  queue: queueId("q1"),
  action: "PAUSE",
  times: { kind: "RECURRING", cron: "0 * * * ? *", timeZone: "UTC" },
  durationMinutes: 60,
  reason: null,
  allowUrgent: false,
  createdAt: later(NOON, -DAY_MS),
  createdBy: "admin",
  cancelledAt: null,
  ...change,
});
const startsOf = (windows: readonly MaintenanceWindow[], now: EpochMs, closedAt: EpochMs | null = null) =>
  windowsAt(windows, closedAt, now).map(({ startsAt }) => (startsAt - NOON) / HOUR_MS);

describe("what a queue knows of its windows", () => {
  it("is the opening it is in and the next one: where one follows upon another, there is no moment in between", () => {
    expect(startsOf([aWindow()], at(0.5))).toEqual([0, 1]);
    expect(startsOf([aWindow()], later(at(1), -1))).toEqual([0, 1]);
    expect(startsOf([aWindow()], at(1))).toEqual([1, 2]);
  });

  it("is all that is open at once, where clocks bring openings so near that they meet", () => {
    const daily = { kind: "RECURRING", cron: "0 12 * * ? *", timeZone: "Europe/Berlin" } as const;
    const window = aWindow({ times: daily, durationMinutes: 24 * 60 });
    // The 29th of March begins an hour early in Berlin: its noon is 23 hours after that of the 28th.
    expect(startsOf([window], at(46.5))).toEqual([23, 46, 70]);
  });

  it("leaves out what an operator closed, what was cancelled, and what is over", () => {
    expect(startsOf([aWindow()], at(0.5), at(0.25))).toEqual([1]);
    expect(startsOf([aWindow({ cancelledAt: at(0) })], at(0.5))).toEqual([]);
    const once = { kind: "ONCE", startsAt: at(0), endsAt: at(1) } as const;
    expect(startsOf([aWindow({ times: once })], at(0.5))).toEqual([0]);
    expect(startsOf([aWindow({ times: once })], at(1))).toEqual([]);
    expect(isOver(aWindow({ times: once }), at(0), at(0.5))).toBe(true);
    expect(isOver(aWindow(), at(0), at(0.5))).toBe(false);
  });

  it("is kept for a week after its end; what goes on is kept", () => {
    const once = { kind: "ONCE", startsAt: at(0), endsAt: at(1) } as const;
    expect(keptUntil(aWindow({ times: once }))).toBe(later(at(1), 7 * DAY_MS));
    expect(keptUntil(aWindow())).toBeUndefined();
    expect(keptUntil(aWindow({ cancelledAt: at(0) }))).toBe(later(at(0), 7 * DAY_MS));
  });
});

describe("a window that is declared with the deployment", () => {
  const declared = {
    org: "acme",
    repo: { host: "github.com", owner: "acme", name: "app" },
    targetBranch: "main",
    schedule: "cron(0 22 ? * fri *)",
    timeZone: "Europe/Berlin",
    durationMinutes: 90,
  };

  it("is a schedule that calls the function with what any calendar may call it with", () => {
    const { expression, timeZone, input } = declaredSchedule(declaredWindow.parse(declared));
    expect([expression, timeZone]).toEqual(["cron(0 22 ? * FRI *)", "Europe/Berlin"]);
    const call: Record<string, unknown> = JSON.parse(input);
    expect(call["time"]).toBe("<aws.scheduler.scheduled-time>");
    // What EventBridge Scheduler puts in its place.
    const read = directCall.parse({ ...call, time: "2026-11-27T21:00:00Z" });
    expect(read).toMatchObject({ action: "DRAIN", orgUrlSlug: "acme", repo: declared.repo, durationMinutes: 90 });
    expect(read.time).toBe(Date.parse("2026-11-27T21:00:00Z"));
  });

  it("is refused with each field that is wrong", () => {
    const wrong = { ...declared, schedule: "0 25 ? * FRI *", timeZone: "Berlin", durationMinutes: 0, dury: 1 };
    const paths = declaredWindow.safeParse(wrong).error?.issues.map(({ path }) => path.join("."));
    expect(new Set(paths)).toEqual(new Set(["schedule", "timeZone", "durationMinutes", ""]));
  });
});
