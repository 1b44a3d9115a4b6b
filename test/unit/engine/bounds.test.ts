import { afterEach, describe, expect, it } from "vitest";
import { commitSha, entryId } from "../../../shared/kernel/ids.ts";
import { step } from "../../../shared/queue/engine/step.ts";
import type { Entry, QueueEvent } from "../../../shared/queue/engine/types.ts";
import { aQueue, aTip, itemsOf, type ScriptedQueue, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const ITEMS_MAX = 55;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Plays the event step by step and answers the size of each step. */
function sizes(queue: ScriptedQueue, event: QueueEvent): readonly number[] {
  const found: number[] = [];
  let next: QueueEvent = event;
  do {
    const before = queue.state;
    queue.once(next);
    if (queue.last !== undefined) found.push(itemsOf(before, queue.last));
    next = { type: "wake" };
  } while (queue.last?.more === true && found.length < 2000);
  return found;
}

describe("a step is bounded", () => {
  it("when a push voids 40 runs: many steps, each valid, and all tested again in the end", () => {
    const all = numbers(40);
    const queue = testing(all, { concurrency: 120 }).event({ type: "news", prNumbers: [], tip: { sha: null } });
    const event: QueueEvent = { type: "tip", read: queue.state.tipRead ?? -1, tip: aTip("T1"), reached: [] };
    const steps = sizes(queue, event);
    expect(Math.max(...steps)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(steps.length).toBeGreaterThan(5);
    expect([...queue.state.runs.values()].filter((run) => run.base === "T1")).toHaveLength(40);
  });

  it("when a hundred queued PRs are merged by one hand", () => {
    const queue = testing(numbers(100), { concurrency: 3 }).event({ type: "news", prNumbers: [], tip: { sha: null } });
    const reached = numbers(100).map((number) => commitSha(`head${number}`));
    const steps = sizes(queue, { type: "tip", read: queue.state.tipRead ?? -1, tip: aTip("T1"), reached });
    expect(Math.max(...steps)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.state.entries.size).toBe(0);
    expect(queue.state.reached).toBeUndefined();
  });

  it("when there is news of three hundred PRs", () => {
    const queue = testing(numbers(300), { concurrency: 1 });
    const steps = sizes(queue, { type: "news", prNumbers: numbers(300), tip: null });
    expect(Math.max(...steps)).toBeLessThanOrEqual(ITEMS_MAX);
    expect(queue.effects()).toHaveLength(300);
    expect(queue.state.readsDue).toBeUndefined();
  });

  it("when three hundred wait to be admitted", () => {
    const queue = aQueue({ concurrency: 300 }).submits(...numbers(300));
    const event: QueueEvent = { type: "tip", read: queue.state.tipRead ?? -1, tip: aTip("T1"), reached: [] };
    expect(Math.max(...sizes(queue, event))).toBeLessThanOrEqual(ITEMS_MAX);
    // As deep as a run is likely enough to be needed.
    expect(queue.states()[300]).toBe("PENDING");
    expect(queue.state.runs.size).toBe(41);
  });
});

const SCANS = ["indexOf", "includes", "slice"] as const;

/** Reports the length of every list that a built-in method goes through, until the answer is called. */
function watchScans(tell: (length: number) => void): () => void {
  const real = SCANS.map((name) => [name, Array.prototype[name]] as const);
  for (const [name, method] of real) {
    const watched = function (this: readonly unknown[], ...args: readonly unknown[]): unknown {
      tell(this.length);
      return Reflect.apply(method, this, args);
    };
    Object.assign(Array.prototype, { [name]: watched });
  }
  return () => Object.assign(Array.prototype, Object.fromEntries(real));
}

describe("a step's cost", () => {
  const one = testing([1]).entry(1);
  const waiting = (number: number): Entry => ({
    ...one,
    id: entryId(`e${number}`),
    prNumber: number,
    state: "PENDING",
    place: null,
    lastRun: null,
  });

  /** What a step looks at in a queue of so many: the fields of its entries, and the members of lists it goes through. */
  const workOf = (count: number): number => {
    const { state, now } = aQueue().opens();
    let work = 0;
    const counted = (entry: Entry): Entry =>
      new Proxy(entry, {
        get: (from, name) => {
          work += 1;
          return Reflect.get(from, name);
        },
      });
    const entries = new Map(numbers(count).map((number) => [entryId(`e${number}`), counted(waiting(number))]));
    const started = step({ ...state, entries }, { type: "wake" }, now);
    const unwatch = watchScans((length) => {
      work += length;
    });
    work = 0;
    try {
      step(started.state, { type: "wake" }, now);
      return work;
    } finally {
      unwatch();
    }
  };

  it("grows no worse than n log n with the entries", () => {
    const [few, many] = [workOf(1000), workOf(10_000)];
    expect(few).toBeGreaterThan(1000);
    // Ten times the entries are some thirteen times the work; quadratic would be a hundred.
    expect(many / few).toBeLessThan(20);
  });
});
