/**
 * Random lives of a queue's maintenance windows, held against a model that is nothing but the rule: a window is open iff
 * it has begun, is not over, was not cancelled, and no operator's RUNNING came since it opened.
 */
import * as fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { handler as windowFunction } from "../../functions/workers/maintenance-window.ts";
import { handler as sweep } from "../../functions/workers/sweep.ts";
import type { QueueKey } from "../../shared/kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, later, MINUTE_MS, toRfc3339 } from "../../shared/kernel/time.ts";
import { cancelMaintenance, scheduleMaintenance } from "../../shared/queue/app/maintenance.ts";
import { getQueue, updateQueue } from "../../shared/queue/app/queues.ts";
import { anApplication, type TestApplication } from "../support/application.ts";

let service: TestApplication;
beforeAll(async () => {
  service = await anApplication();
});
afterAll(() => service.stop());

type Opening = { readonly startsAt: number; readonly endsAt: number };
type Known = {
  readonly id: string;
  readonly action: "DRAIN" | "PAUSE";
  /** At any time: whatever begins within two hours of it. */
  readonly around: (now: number) => readonly Opening[];
  cancelled: boolean;
};
type Life = {
  readonly key: QueueKey;
  readonly windows: Known[];
  operator: "RUNNING" | "PAUSED" | "DRAINING";
  closedAt: number;
};

const minutes = (min: number, max: number) => fc.integer({ min, max });
const action = fc.constantFrom("DRAIN" as const, "PAUSE" as const);
const act = fc.oneof(
  fc.record({ do: fc.constant("once" as const), action, after: minutes(-30, 90), lasts: minutes(1, 90) }),
  fc.record({ do: fc.constant("hourly" as const), action, at: minutes(0, 59), lasts: minutes(1, 60) }),
  fc.record({ do: fc.constant("event" as const), id: minutes(1, 3), action, after: minutes(-40, 10) }),
  fc.record({ do: fc.constant("cancel" as const), which: fc.nat() }),
  fc.record({
    do: fc.constant("operator" as const),
    state: fc.constantFrom("RUNNING" as const, "PAUSED" as const, "DRAINING" as const),
  }),
  fc.record({ do: fc.constant("call" as const), which: fc.nat() }),
  fc.record({ do: fc.constant("passes" as const), minutes: minutes(1, 75) }),
  fc.record({ do: fc.constant("sweep" as const) }),
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;
type Of<Do extends Act["do"]> = Extract<Act, { do: Do }>;

const now = (): EpochMs => service.app.clock();
const EVENT_MINUTES = 30;

const once = (id: string, of: Known["action"], startsAt: number, endsAt: number): Known => ({
  id,
  action: of,
  around: () => [{ startsAt, endsAt }],
  cancelled: false,
});

async function schedulesOnce(life: Life, { action: of, after, lasts }: Of<"once">): Promise<void> {
  const startsAt = later(now(), after * MINUTE_MS);
  const asked = { key: life.key, action: of, startsAt, durationMinutes: lasts, by: "test" };
  const done = await scheduleMaintenance(service.app, asked, () => undefined);
  const endsAt = later(startsAt, lasts * MINUTE_MS);
  expect(done.ok).toBe(endsAt > now());
  const opensAt = Math.max(startsAt, now(), life.closedAt + 1);
  if (done.ok) life.windows.push(once(done.value.window.id, of, opensAt, endsAt));
}

async function schedulesHourly(life: Life, { action: of, at, lasts }: Of<"hourly">): Promise<void> {
  const schedule = { cron: `${at} * * * ? *`, timeZone: "UTC" };
  const asked = { key: life.key, action: of, schedule, durationMinutes: lasts, by: "test" };
  const done = await scheduleMaintenance(service.app, asked, () => undefined);
  if (!done.ok) throw new Error(done.fault.message);
  const made = now();
  const around = (time: number): readonly Opening[] =>
    [-2, -1, 0, 1, 2]
      .map((hours) => (Math.floor(time / HOUR_MS) + hours) * HOUR_MS + at * MINUTE_MS)
      .filter((startsAt) => startsAt > made)
      .map((startsAt) => ({ startsAt, endsAt: startsAt + lasts * MINUTE_MS }));
  life.windows.push({ id: done.value.window.id, action: of, around, cancelled: false });
}

/** The same id always says the same: what came first under it. */
const events = new Map<string, object>();

async function sendsEvent(life: Life, { id, action: of, after }: Of<"event">): Promise<void> {
  const { org: orgUrlSlug, repo, branch: targetBranch } = life.key;
  const name = `${repo.name}-${id}`;
  const isFirst = !events.has(name);
  const time = later(now(), after * MINUTE_MS);
  const detail = { action: of, repo, targetBranch, durationMinutes: EVENT_MINUTES, orgUrlSlug };
  const event = events.get(name) ?? { id: name, time: toRfc3339(time), detail };
  const endsAt = time + EVENT_MINUTES * MINUTE_MS;
  if (isFirst && endsAt <= now()) {
    await expect(windowFunction(event)).rejects.toThrow("startsAt");
    return;
  }
  events.set(name, event);
  await windowFunction(event);
  if (isFirst) life.windows.push(once(name, of, time, endsAt));
}

const oneOf = ({ windows }: Life, which: number): Known | undefined => windows[which % Math.max(1, windows.length)];

async function cancels(life: Life, { which }: Of<"cancel">): Promise<void> {
  const window = oneOf(life, which);
  // The names of windows that events open are the service's own.
  if (window === undefined || window.id.startsWith("app-")) return;
  const done = await cancelMaintenance(service.app, { org: life.key.org, id: window.id, by: "test" }, () => undefined);
  expect(done.ok).toBe(true);
  window.cancelled = true;
}

async function sets(life: Life, { state: operator }: Of<"operator">): Promise<void> {
  await updateQueue(service.app, { key: life.key, patch: {}, state: operator, by: "test" }, () => undefined);
  life.operator = operator;
  if (operator === "RUNNING") life.closedAt = now();
}

async function happens(life: Life, one: Act): Promise<void> {
  switch (one.do) {
    case "once":
      return schedulesOnce(life, one);
    case "hourly":
      return schedulesHourly(life, one);
    case "event":
      return sendsEvent(life, one);
    case "cancel":
      return cancels(life, one);
    case "operator":
      return sets(life, one);
    case "call":
      return windowFunction({ windowId: oneOf(life, one.which)?.id ?? "none", queue: life.key });
    case "passes":
      return service.passes(one.minutes * MINUTE_MS);
    case "sweep":
      return sweep();
  }
}

const openings = ({ windows, closedAt }: Life): readonly (Opening & Pick<Known, "action">)[] =>
  windows
    .filter(({ cancelled }) => !cancelled)
    .flatMap((one) => one.around(now()).map((opening) => ({ ...opening, action: one.action })))
    .filter(({ startsAt }) => startsAt > closedAt);

function stateOf(life: Life): string {
  const open = openings(life).filter(({ startsAt, endsAt }) => startsAt <= now() && now() < endsAt);
  const all: readonly string[] = [
    life.operator,
    ...open.map((one) => (one.action === "PAUSE" ? "PAUSED" : "DRAINING")),
  ];
  return (["PAUSED", "DRAINING", "RUNNING"] as const).find((state) => all.includes(state)) ?? "";
}

const edges = (life: Life): readonly number[] =>
  openings(life)
    .flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])
    .filter((at) => at > now());

async function shown({ key }: Life): Promise<string> {
  const found = await getQueue(service.app, key);
  if (!found.ok) throw new Error(found.fault.message);
  return found.value.queue.state;
}

export async function itFollowsTheRule(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 18 }), async (acts) => {
      const { key } = await service.queue("true");
      const life: Life = { key, windows: [], operator: "RUNNING", closedAt: 0 };
      for (const one of acts) {
        await happens(life, one);
        expect(await shown(life)).toBe(stateOf(life));
      }
      await sweep();
      const due = (await service.app.queues.due()).find((one) => one.key.repo.name === key.repo.name);
      const next = edges(life);
      expect(due?.wakeAt ?? null).toBe(next.length === 0 ? null : epochMs(Math.min(...next)));
      await service.clear();
    }),
    { numRuns },
  );
}
