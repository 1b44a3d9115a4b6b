/** A file counts once, whoever sends it how often, and whatever ended in between. */
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOUR_MS, later } from "../../../shared/kernel/time.ts";
import type { Table } from "../../../shared/table/client.ts";
import { healthStore } from "../../../shared/table/health-store.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { dyingAfter, fresh, Killed, type Outcomes, type TestHealth, testHealth } from "./store-fixture.ts";

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

const FILE: Outcomes = { passed: ["a", "b"], failed: ["c", "d"], retried: ["e"], skipped: ["f"] };

const uploadsOf = (one: TestHealth) =>
  fresh(table, one).uploads(one.repository, later(one.now(), -48 * HOUR_MS), later(one.now(), 1));
const failuresOf = (one: TestHealth) =>
  fresh(table, one).failures(one.repository, later(one.now(), -48 * HOUR_MS), later(one.now(), 1));

/** All that the table holds, without what says only how often something was written, and when. */
async function contentOf(of: Table): Promise<unknown> {
  const { Items = [] } = await of.client.send(new ScanCommand({ TableName: of.name, ConsistentRead: true }));
  const volatile = new Set(["stamp", "revision", "r", "expiresAtSeconds"]);
  const inOrder = (_: string, value: unknown): unknown =>
    typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Uint8Array
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => !volatile.has(name))
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        );
  const lasting = Items.filter((item) => item["entity"] !== "TESTS_DUE");
  return lasting.map((item) => JSON.stringify(item, inOrder)).sort();
}

describe("the same file of the same run", () => {
  test("counts once, and the second time the first answer comes", async () => {
    const first = await health.takes(FILE);
    health.passes(3 * HOUR_MS);
    expect(await health.takes(FILE)).toEqual(first);
    expect(await uploadsOf(health)).toHaveLength(1);
    expect(await failuresOf(health)).toHaveLength(3);
  });

  test("counts once when it comes several times at the same moment, and the clocks differ", async () => {
    const answers = await Promise.all(
      [0, 1, 2, 3].map((late) => {
        const one = testHealth(table);
        one.passes(late * HOUR_MS);
        return one.takes(FILE);
      }),
    );
    health.passes(4 * HOUR_MS);
    expect(new Set(answers.map((one) => one.uploadId)).size).toBe(1);
    expect(await uploadsOf(health)).toHaveLength(1);
    expect(await failuresOf(health)).toHaveLength(3);
  });

  test("is another one with another attempt, job, commit or time of its run", async () => {
    const at = later(health.now(), -HOUR_MS);
    const ids = [
      await health.takes(FILE),
      await health.takes(FILE, { attempt: 2 }),
      await health.takes(FILE, { job: "other" }),
      await health.takes(FILE, { sha: "b".repeat(40) }),
      await health.takes(FILE, { at }),
    ].map((one) => one.uploadId);
    expect(new Set(ids).size).toBe(5);
    expect(await uploadsOf(health)).toHaveLength(5);
  });
});

test("killed after any number of its writes and sent again, hours later, it leaves what a clean upload leaves", async () => {
  const clean = await running.another();
  const whole = dyingAfter(clean, Number.POSITIVE_INFINITY);
  const expected = await testHealth(whole.table).takes(FILE);
  const content = await contentOf(clean);
  expect(whole.made()).toBeGreaterThan(8);
  for (let writes = 0; writes < whole.made(); writes += 1) {
    const broken = await running.another();
    const first = testHealth(dyingAfter(broken, writes).table);
    await expect(first.takes(FILE)).rejects.toThrow(Killed);
    const second = testHealth(broken);
    // Of what has left nothing behind nobody knows when it ran.
    if (writes > 0) second.passes(2 * HOUR_MS);
    expect(await second.takes(FILE)).toEqual(expected);
    expect(await contentOf(broken)).toEqual(content);
    const uploads = await healthStore(broken, second.now).uploads(
      second.repository,
      later(second.now(), -48 * HOUR_MS),
      later(second.now(), 1),
    );
    expect(uploads).toHaveLength(1);
  }
});
