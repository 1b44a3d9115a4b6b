import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startSchedules } from "../../../infra/local/schedules.ts";
import { silentLog } from "../../../shared/kernel/log.ts";

const EVERY_SECOND = "* * * * * *";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-27T12:00:00.500Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a schedule", () => {
  it("runs at the start and again, also after a failure", async () => {
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
      throw new Error("this time");
    };
    const schedules = startSchedules([{ name: "sweep", cron: EVERY_SECOND, run, atStart: true }], silentLog);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(runs).toBe(3);
    await schedules.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(3);
  });

  it("is not joined by another run of itself, and its run ends before the stop does", async () => {
    let runs = 0;
    const release = Promise.withResolvers<void>();
    const run = (): Promise<void> => {
      runs += 1;
      return release.promise;
    };
    const schedules = startSchedules([{ name: "sweep", cron: EVERY_SECOND, run, atStart: true }], silentLog);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs).toBe(1);
    let stopped = false;
    const stopping = schedules.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(stopped).toBe(false);
    release.resolve();
    await stopping;
  });
});
