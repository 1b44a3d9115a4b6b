/** What becomes of tests as uploads come in and as time passes, and lists that stay while it does. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, later, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Table } from "../../../shared/table/client.ts";
import { judgeDue } from "../../../shared/test-health/app/judge.ts";
import { listFailing, listUnhealthy } from "../../../shared/test-health/app/lists.ts";
import type { HealthStore } from "../../../shared/test-health/app/ports.ts";
import { testDetails } from "../../../shared/test-health/app/tests.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRepositoryOf, type TestHealth, testHealth } from "./store-fixture.ts";

let running: Tables;
let table: Table;
let health: TestHealth;
beforeAll(async () => {
  running = await sharedTable();
});
beforeEach(async () => {
  table = await running.another();
  health = testHealth(table);
});

const sha = (letter: string): string => letter.repeat(40);
const records = (of = health) => of.app.health.allTests(of.repository);
const statuses = async (of = health) => (await records(of)).map((one) => one.transitions.at(-1)?.status ?? "HEALTHY");
const failing = async (page_token = "", page_size = 2) => {
  const { app, repository, now } = health;
  // The window of every page is the same.
  const [from, until] = [later(START, -HOUR_MS), later(START, DAY_MS)];
  const listed = await listFailing({ ...app, clock: now }, repository, from, until, { page_size, page_token });
  if (!listed.ok) throw new Error(listed.fault.message);
  return listed.value;
};
const START = testHealth({ client: {} as never, name: "" }).now();

/** Both outcomes on two commits. */
const flakes = async (of = health): Promise<void> => {
  for (const letter of ["a", "b"]) {
    await of.takes({ retried: ["t"], passed: ["u"] }, { sha: sha(letter) });
    of.passes(MINUTE_MS);
  }
};

describe("time alone", () => {
  test("clears a flaky test a week after its last evidence, at exactly that moment, and says so", async () => {
    await flakes();
    expect(await statuses()).toEqual(["FLAKY"]);
    await judgeDue(health.app);
    const [due] = await health.app.health.due(later(health.now(), 30 * DAY_MS));
    health.passes((due?.at ?? 0) - health.now() - 1);
    await judgeDue(health.app);
    expect(await statuses()).toEqual(["FLAKY"]);
    health.passes(1);
    await judgeDue(health.app);
    expect(await statuses()).toEqual(["HEALTHY"]);
    expect((await records())[0]?.transitions).toMatchObject([{ status: "FLAKY" }, { status: "HEALTHY", upload: null }]);
    expect(await health.app.health.due(later(health.now(), 90 * DAY_MS))).toEqual([]);
  });

  test("writes nothing where there is no news: a healthy test costs nothing with every upload", async () => {
    await health.takes({ failed: ["t"], passed: ["u"] });
    await judgeDue(health.app);
    const before = await records();
    for (let attempt = 2; attempt < 6; attempt += 1) {
      health.passes(HOUR_MS);
      await health.takes({ passed: ["t", "u"] }, { attempt });
      await judgeDue(health.app);
    }
    expect(await records()).toEqual(before);
  });
});

describe("the worker", () => {
  test("goes on with the others when one repository cannot be judged, and comes back to that one", async () => {
    const other = testHealth(table, aRepositoryOf("other"));
    for (const one of [health, other]) {
      for (let run = 0; run < 5; run += 1) {
        await one.takes({ failed: ["t"] }, { sha: sha(String(run)) });
        one.passes(MINUTE_MS);
      }
      await one.takes({ passed: ["t"] }, { sha: sha("f") });
    }
    const { health: store } = health.app;
    const away: HealthStore = {
      ...store,
      allTests: (of) => (of.repo.name === "app" ? Promise.reject(new Error("away")) : store.allTests(of)),
    };
    await judgeDue(health.with({ health: away }).app);
    expect([await statuses(), await statuses(other)]).toEqual([["BROKEN"], ["HEALTHY"]]);
    await judgeDue(health.app);
    expect(await statuses()).toEqual(["HEALTHY"]);
  });

  test("takes nothing back that an upload says while the tests are read", async () => {
    await health.takes({ failed: ["t"], passed: ["u"] });
    const { health: store } = health.app;
    const slow: HealthStore = {
      ...store,
      allTests: async (of) => {
        await flakes();
        return store.allTests(of);
      },
    };
    await judgeDue(health.with({ health: slow }).app);
    expect(await statuses()).toEqual(["FLAKY"]);
  });

  test("takes nothing back that an upload says just before the worker writes, and looks again", async () => {
    await flakes();
    await judgeDue(health.app);
    health.passes(8 * DAY_MS);
    const { health: store } = health.app;
    let puts = 0;
    const late: HealthStore = {
      ...store,
      putTest: async (of, record) => {
        if ((puts += 1) === 1)
          for (const letter of ["c", "d"]) await health.takes({ retried: ["t"], passed: ["u"] }, { sha: sha(letter) });
        return store.putTest(of, record);
      },
    };
    await judgeDue(health.with({ health: late }).app);
    expect([puts, await statuses()]).toEqual([1, ["FLAKY"]]);
    expect((await health.app.health.due(health.now())).length).toBe(1);
  });

  test("comes to the same verdict as the uploads did, in whatever order they came in", async () => {
    const runs = [
      { what: { failed: ["t"], passed: ["u"] }, sha: sha("a"), at: later(START, -5 * HOUR_MS) },
      { what: { passed: ["t", "u"] }, sha: sha("a"), at: later(START, -4 * HOUR_MS) },
      { what: { failed: ["t"], passed: ["u"] }, sha: sha("b"), at: later(START, -3 * HOUR_MS) },
      { what: { passed: ["t", "u"] }, sha: sha("b"), at: later(START, -2 * HOUR_MS) },
    ];
    const told = new Set<string>();
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
    ]) {
      const one = testHealth(await running.another());
      for (const at of order) {
        const run = runs[at];
        if (run !== undefined) await one.takes(run.what, { sha: run.sha, at: run.at, attempt: 1 + at });
      }
      await judgeDue(one.app);
      const [record] = await records(one);
      told.add(
        JSON.stringify([record?.transitions.at(-1)?.status, record?.reason, record?.evidence.map((e) => e.sha)]),
      );
    }
    expect([...told]).toHaveLength(1);
    expect([...told][0]).toContain("FLAKY");
  });
});

describe("a list that somebody pages through", () => {
  test("stays without an upload that had begun before, and is listed after", async () => {
    await health.takes({ failed: ["a", "b", "c"] });
    health.passes(1);
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { health: store } = health.app;
    const slow: HealthStore = { ...store, putFailures: async (...of) => held.then(() => store.putFailures(...of)) };
    const sent = health.with({ health: slow }).takes({ failed: ["c", "d"] }, { attempt: 2 });
    health.passes(10);
    const first = await failing();
    health.passes(10);
    goOn();
    await sent;
    const second = await failing(first.page.next_page_token);
    const names = [...first.rows, ...second.rows].map((row) => row.record.name);
    expect(names.toSorted()).toEqual(["a", "b", "c"]);
    expect([first.page.total_rows, second.page.total_rows]).toEqual([3, 3]);
    expect((await failing("", 10)).rows).toHaveLength(4);
  });

  test("of unhealthy tests shows what they were then", async () => {
    await flakes();
    const { app, repository } = health;
    const list = (page_token = "") => listUnhealthy(app, repository, undefined, { page_size: 1, page_token });
    const first = await list();
    health.passes(30 * DAY_MS);
    await judgeDue(app);
    const again = await list(first.ok ? first.value.page.last_page_token : "");
    expect(first.ok && first.value.rows.map((row) => row.status.value)).toEqual(["FLAKY"]);
    expect(again.ok && again.value.rows).toEqual([]);
  });
});

describe("what is told of failures", () => {
  test("the latest failure is the latest, also when an earlier one comes in after it", async () => {
    const says = async (saying: string, hoursAgo: number) =>
      health.takes({ failed: ["t"], saying }, { at: later(START, -hoursAgo * HOUR_MS), attempt: 9 - hoursAgo });
    await says("first", 5);
    await says("second", 3);
    await says("first", 2);
    await says("second", 4);
    const [record] = await records();
    const details = await testDetails(health.app, health.repository, record?.id ?? "");
    expect(record?.summaries.map((one) => [one.text, one.example])).toEqual([
      ["first", "first"],
      ["second", ""],
    ]);
    expect(details.ok && details.value.row.common).toMatchObject([
      { summary: "first", count: 2 },
      { summary: "second", count: 2 },
    ]);
    expect([record?.firstFailedAt, record?.lastFailedAt]).toEqual([
      later(START, -5 * HOUR_MS),
      later(START, -2 * HOUR_MS),
    ]);
  });

  test("a record stays small however long and different its failures are", async () => {
    for (let attempt = 1; attempt < 23; attempt += 1)
      await health.takes({ failed: ["t"], saying: `${"é".repeat(attempt)} ${"x".repeat(5_000)}` }, { attempt });
    expect(JSON.stringify(await records()).length).toBeLessThan(20_000);
  });
});
