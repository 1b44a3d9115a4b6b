import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type LocalScheduler, localScheduler } from "../../../infra/local/wakings.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { DAY_MS, later, MINUTE_MS, systemClock } from "../../../shared/kernel/time.ts";
import type { Waking } from "../../../shared/scheduler/port.ts";

const key = { org: orgSlug("acme"), repo: { host: "git.local", owner: "acme", name: "app" }, branch: "main" };
const waking = (name: string, when: Waking["when"]): Waking => ({ name, windowId: name, key, when });
const inMs = (ms: number): Waking["when"] => ({ kind: "AT", at: later(systemClock(), ms) });

const calls: { readonly windowId: unknown; readonly at: number }[] = [];
let scheduler: LocalScheduler;
const made = (): LocalScheduler =>
  (scheduler = localScheduler({
    call: async (event) => void calls.push({ windowId: (event as { windowId: unknown }).windowId, at: Date.now() }),
    log: silentLog,
    clock: systemClock,
  }));
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-27T12:00:00Z") });
});
afterEach(async () => {
  await scheduler.stop();
  vi.useRealTimers();
  calls.length = 0;
});
const names = (): readonly unknown[] => calls.map(({ windowId }) => windowId);

describe("a timer of this machine", () => {
  it("calls at its time and not before, once; one that is over calls nobody", async () => {
    made();
    const when = later(systemClock(), 300);
    await scheduler.put(waking("a", { kind: "AT", at: when }));
    await scheduler.put(waking("b", inMs(-10)));
    vi.advanceTimersByTime(299);
    expect(names()).toEqual([]);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(calls[0]?.at).toBeGreaterThanOrEqual(when);
    expect(names()).toEqual(["a"]);
  });

  it("that is put again is replaced, and removed it calls nobody", async () => {
    made();
    await scheduler.put(waking("a", inMs(20_000)));
    await scheduler.put(waking("a", inMs(50_000)));
    await scheduler.put(waking("b", inMs(20_000)));
    await scheduler.remove("b");
    await scheduler.remove("none");
    vi.advanceTimersByTime(35_000);
    expect(names()).toEqual([]);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(names()).toEqual(["a"]);
  });

  it("goes on with a schedule after each call, however far the next one is", async () => {
    made();
    await scheduler.put(waking("a", { kind: "CRON", cron: "30 2 * * ? *", timeZone: "Europe/Berlin" }));
    // Farther than a timer of Node reaches, which is 24.8 days.
    await scheduler.put(waking("b", { kind: "AT", at: later(systemClock(), 26 * DAY_MS) }));
    vi.advanceTimersByTime(4 * DAY_MS);
    expect(calls.map(({ at }) => new Date(at).toISOString().slice(0, 16))).toEqual([
      "2026-03-28T01:30",
      "2026-03-30T00:30",
      "2026-03-31T00:30",
    ]);
    vi.advanceTimersByTime(23 * DAY_MS);
    expect(names().filter((name) => name === "b")).toHaveLength(1);
  });
});
