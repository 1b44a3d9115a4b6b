import { afterEach, describe, expect, it, vi } from "vitest";
import { type LocalScheduler, localScheduler } from "../../../infra/local/wakings.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { later, systemClock } from "../../../shared/kernel/time.ts";
import type { Waking } from "../../../shared/scheduler/port.ts";
import { eventually } from "../../support/eventually.ts";

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
afterEach(async () => {
  await scheduler.stop();
  calls.length = 0;
});
const names = (): readonly unknown[] => calls.map(({ windowId }) => windowId);

describe("a timer of this machine", () => {
  it("calls at its time and not before, once; one that is over calls nobody", async () => {
    made();
    const when = inMs(300);
    await scheduler.put(waking("a", when));
    await scheduler.put(waking("b", inMs(-10)));
    await eventually(names, (all) => all.length > 0);
    expect(calls[0]?.at).toBeGreaterThanOrEqual(when.kind === "AT" ? when.at : Number.NaN);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(names()).toEqual(["a"]);
  });

  it("that is put again is replaced, and removed it calls nobody", async () => {
    made();
    await scheduler.put(waking("a", inMs(200)));
    await scheduler.put(waking("a", inMs(500)));
    await scheduler.put(waking("b", inMs(200)));
    await scheduler.remove("b");
    await scheduler.remove("none");
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(names()).toEqual([]);
    await eventually(names, (all) => all.length === 1);
  });

  it("goes on with a schedule after each call, however far the next one is", async () => {
    vi.useFakeTimers({ now: Date.parse("2026-03-27T12:00:00Z") });
    try {
      made();
      await scheduler.put(waking("a", { kind: "CRON", cron: "30 2 * * ? *", timeZone: "Europe/Berlin" }));
      await scheduler.put(waking("b", { kind: "AT", at: later(systemClock(), 60 * 24 * 60 * 60_000) }));
      await vi.advanceTimersByTimeAsync(4 * 24 * 60 * 60_000);
      expect(calls.map(({ at }) => new Date(at).toISOString().slice(0, 16))).toEqual([
        "2026-03-28T01:30",
        "2026-03-30T00:30",
        "2026-03-31T00:30",
      ]);
      await vi.advanceTimersByTimeAsync(57 * 24 * 60 * 60_000);
      expect(names().filter((name) => name === "b")).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
