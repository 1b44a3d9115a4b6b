import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startSchedules } from "../../../infra/local/schedules.ts";
import { silentLog } from "../../../shared/kernel/log.ts";

const EVERY_SECOND = "* * * * * *";

describe("a schedule", () => {
  it("runs at the start and again, also after a failure", async () => {
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
      throw new Error("this time");
    };
    const schedules = startSchedules([{ name: "sweep", cron: EVERY_SECOND, run, atStart: true }], silentLog);
    expect(runs).toBe(1);
    await sleep(2_200);
    await schedules.stop();
    expect(runs).toBeGreaterThanOrEqual(2);
    const ended = runs;
    await sleep(1_200);
    expect(runs).toBe(ended);
  });

  it("is not joined by another run of itself, and its run ends before the stop does", async () => {
    let runs = 0;
    const release = Promise.withResolvers<void>();
    const run = (): Promise<void> => {
      runs += 1;
      return release.promise;
    };
    const schedules = startSchedules([{ name: "sweep", cron: EVERY_SECOND, run, atStart: true }], silentLog);
    await sleep(1_500);
    expect(runs).toBe(1);
    let stopped = false;
    const stopping = schedules.stop().then(() => {
      stopped = true;
    });
    await sleep(50);
    expect(stopped).toBe(false);
    release.resolve();
    await stopping;
  });
});
