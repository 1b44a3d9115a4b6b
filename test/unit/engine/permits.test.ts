import { afterEach, describe, expect, it } from "vitest";
import { epochMs, HOUR_MS } from "../../../shared/kernel/time.ts";
import { permitsOf } from "../../../shared/queue/engine/permits.ts";
import type { Hold, MaintenanceWindow, QueueConfig, QueueState } from "../../../shared/queue/engine/types.ts";
import { aQueue, START, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const operator = (state: QueueConfig["operator"]["state"], allowUrgent = false, reason: string | null = null) => ({
  state,
  reason,
  since: epochMs(START + 7),
  allowUrgent,
});
const window = (change: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  id: "w",
  action: "PAUSE",
  startsAt: START,
  endsAt: epochMs(START + HOUR_MS),
  reason: null,
  allowUrgent: false,
  ...change,
});
const hold: Hold = { kind: "TIP_FAILED", since: epochMs(START + 9), detail: "unit failed" };

const permits = (config: Partial<QueueConfig>, change: Partial<QueueState> = {}) => {
  const { state } = testing([1]);
  return permitsOf({ ...state, config: { ...state.config, ...config }, ...change }, START);
};
const one = () => testing([1]).entry(1);
const urgent = () => ({ ...one(), priority: { value: 0, byDefault: false } });

describe("what the queue may do", () => {
  it("is all, where nothing brakes it", () => {
    const free = permits({ operator: operator("RUNNING", true, "after the release") });
    expect(free).toMatchObject({
      state: "RUNNING",
      reason: "after the release",
      since: START + 7,
      brakes: [],
      isOpen: true,
      changesAt: undefined,
    });
    expect([free.admits(one()), free.starts(one()), free.lands(one())]).toEqual([true, true, true]);
  });

  it("under PAUSED is nothing, and under DRAINING all but admitting", () => {
    const paused = permits({ operator: operator("PAUSED") });
    expect([paused.admits(one()), paused.starts(one()), paused.lands(one()), paused.isOpen]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(paused).toMatchObject({ state: "PAUSED", since: START + 7 });
    expect(paused.reason).toMatch(/^set by an operator at 2023-/u);
    const draining = permits({ operator: operator("DRAINING", false, "release") });
    expect([draining.admits(one()), draining.starts(one()), draining.lands(one()), draining.reason]).toEqual([
      false,
      true,
      true,
      "release",
    ]);
  });

  it.each([
    ["the operator's state", { operator: operator("PAUSED", true) }, {}, true],
    ["a window", { windows: [window({ allowUrgent: true })] }, {}, true],
    ["a window that lets nobody through", { windows: [window()] }, {}, false],
    ["a hold of the service", {}, { holds: [hold] }, false],
  ])("urgent ones pass %s or not", (_, config, change, passes) => {
    const found = permits(config, change);
    expect([found.admits(urgent()), found.starts(urgent()), found.lands(urgent())]).toEqual([passes, passes, passes]);
    expect([found.starts(one()), found.state]).toEqual([false, "PAUSED"]);
  });

  it("in a change of modes admits nobody, urgent or not", () => {
    const { settings } = testing([1]).state.config;
    const switching = permits({ settings: { ...settings, mode: "PARALLEL" } });
    expect(switching).toMatchObject({ state: "SWITCHING_MODES", brakes: [{ urgentPasses: false }] });
    expect([switching.admits(urgent()), switching.starts(one()), switching.lands(one())]).toEqual([false, true, true]);
  });

  it("is what the strictest of all allows, by its own reason", () => {
    const both = permits({ operator: operator("DRAINING"), windows: [window({ reason: "night" })] }, { holds: [hold] });
    expect(both).toMatchObject({ state: "PAUSED", reason: "TIP_FAILED: unit failed", since: START + 9 });
    expect(both.brakes.map((brake) => brake.state)).toEqual(["PAUSED", "DRAINING", "PAUSED"]);
    const drained = permits({ operator: operator("DRAINING"), windows: [window({ reason: "night" })] });
    expect(drained.reason).toBe("maintenance window until 2023-11-14T23:13:20.000Z: night");
  });

  it("in a window that drains is what DRAINING allows", () => {
    const draining = permits({ windows: [window({ action: "DRAIN" })] });
    expect([draining.state, draining.starts(one()), draining.admits(one())]).toEqual(["DRAINING", true, false]);
    expect(draining.reason).toBe("maintenance window until 2023-11-14T23:13:20.000Z");
  });

  it.each([
    ["that begins now", window(), "PAUSED"],
    ["that begins in a moment", window({ startsAt: epochMs(START + 1) }), "RUNNING"],
    ["that ends now", window({ startsAt: epochMs(START - 5), endsAt: START }), "RUNNING"],
    ["that ends in a moment", window({ startsAt: epochMs(START - 5), endsAt: epochMs(START + 1) }), "PAUSED"],
  ])("by a window %s", (_, chosen, state) => {
    expect(permits({ windows: [chosen] }).state).toBe(state);
  });

  it("changes with the next edge of a window", () => {
    const later = window({ startsAt: epochMs(START + 50), endsAt: epochMs(START + 90) });
    expect(permits({ windows: [window(), later] }).changesAt).toBe(START + 50);
    expect(permits({ windows: [window({ endsAt: epochMs(START + 20) }), later] }).changesAt).toBe(START + 20);
    expect(permits({ windows: [window({ endsAt: START })] }).changesAt).toBeUndefined();
  });

  it("is the same for a queue that nobody has submitted to", () => {
    expect(permitsOf(aQueue().state, START).isOpen).toBe(true);
  });
});
