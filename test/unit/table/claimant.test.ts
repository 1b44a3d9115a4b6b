import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { orgSlug, type QueueKey } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { claimant } from "../../../shared/table/claimant.ts";
import type { Table } from "../../../shared/table/client.ts";
import { idempotencyStore } from "../../../shared/table/idempotency.ts";
import { keys } from "../../../shared/table/keys.ts";
import { outboxStore } from "../../../shared/table/outbox.ts";
import { sharedTable } from "../../support/table.ts";

let table: Table;
beforeAll(async () => {
  table = await (await sharedTable()).another();
});

const NOW = epochMs(1_700_000_000_000);
const key: QueueKey = {
  org: orgSlug("local"),
  repo: { host: "git.local", owner: "acme", name: "app" },
  branch: "main",
};

async function anEffect(name: string): Promise<string> {
  const effect = { type: "read-pull-request", key: name, prNumber: 1 };
  const Item = { ...keys.effect(key, name), entity: "EFFECT", schema: 1, key, effect, leaseUntil: 0, attempts: 0 };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  return name;
}

describe("what a worker claimed", () => {
  it("is refused to the same life and to other workers until its time runs out", async () => {
    const effect = await anEffect("refused");
    const first = outboxStore(table, claimant("one"));
    expect(await first.claim(key, effect, NOW, 60_000)).toMatchObject({ attempts: 1 });
    expect(await first.claim(key, effect, NOW, 60_000)).toBeUndefined();
    expect(await first.waitingEffects(key, NOW)).not.toContain(effect);
    for (const other of [outboxStore(table, claimant("two")), outboxStore(table, claimant("on")), outboxStore(table)]) {
      expect(await other.waitingEffects(key, NOW)).not.toContain(effect);
      expect(await other.claim(key, effect, NOW, 60_000)).toBeUndefined();
    }
    expect(await outboxStore(table).claim(key, effect, epochMs(NOW + 60_000), 60_000)).toBeDefined();
  });

  it("is free at once to the worker's next life, whose result then counts and not the first one's", async () => {
    const effect = await anEffect("taken-over");
    const [first, second] = [outboxStore(table, claimant("one")), outboxStore(table, claimant("one"))];
    const lost = await first.claim(key, effect, NOW, 60_000);
    expect(await second.waitingEffects(key, NOW)).toContain(effect);
    const taken = await second.claim(key, effect, NOW, 60_000);
    expect(taken).toMatchObject({ attempts: 2 });
    expect(await second.waitingEffects(key, NOW)).not.toContain(effect);
    if (lost !== undefined) await first.finish(key, lost, { type: "wake" });
    expect(await second.hasInbox(key)).toBe(false);
    if (taken !== undefined) await second.finish(key, taken, { type: "wake" });
    expect(await second.hasInbox(key)).toBe(true);
  });

  it("holds for an Idempotency-Key as well", async () => {
    const receipt = { org: key.org, tokenId: "t", route: "r", key: "k" };
    const begin = (worker: string | undefined) => idempotencyStore(table, claimant(worker)).begin(receipt, "f", NOW);
    expect(await begin("one")).toMatchObject({ kind: "started" });
    expect(await begin("two")).toEqual({ kind: "running" });
    expect(await begin(undefined)).toEqual({ kind: "running" });
    expect(await begin("one")).toMatchObject({ kind: "started" });
    const other = idempotencyStore(table, claimant("one"));
    expect(await other.begin(receipt, "another body", NOW)).toEqual({ kind: "reused" });
  });
});
