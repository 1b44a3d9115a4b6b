import { PutCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import type { Receipt } from "../../../shared/kernel/receipt.ts";
import { DAY_MS, epochMs, later } from "../../../shared/kernel/time.ts";
import type { Table } from "../../../shared/table/client.ts";
import { type Begun, CLAIM_MS, idempotencyStore, recordAnswer } from "../../../shared/table/idempotency.ts";
import { sharedTable } from "../../support/table.ts";

let table: Table;
beforeAll(async () => {
  table = await (await sharedTable()).another();
});

const now = epochMs(1_000_000);
let used = 0;
const aKey = () => ({ org: orgSlug("acme"), tokenId: "t", route: "submit", key: `key#${(used += 1)}` });
const receiptOf = (begun: Begun): Receipt => {
  if (begun.kind !== "started") throw new Error(`it is ${begun.kind}`);
  return begun.receipt;
};
const store = () => idempotencyStore(table);

describe("an Idempotency-Key", () => {
  it("gives the first answer again", async () => {
    const key = aKey();
    const receipt = receiptOf(await store().begin(key, "f", now));
    await store().finish(receipt, 200, "{}");
    expect(await store().begin(key, "f", later(now, 1))).toEqual({ kind: "replay", status: 200, body: "{}" });
  });

  it("belongs to one of many calls at once", async () => {
    const key = aKey();
    const begun = await Promise.all(Array.from({ length: 20 }, () => store().begin(key, "f", now)));
    expect(begun.filter((one) => one.kind === "started")).toHaveLength(1);
    expect(begun.filter((one) => one.kind === "running")).toHaveLength(19);
  });

  it("is refused for another body, while it runs and afterwards", async () => {
    const key = aKey();
    const receipt = receiptOf(await store().begin(key, "f", now));
    expect(await store().begin(key, "g", now)).toEqual({ kind: "reused" });
    await store().finish(receipt, 200, "{}");
    expect(await store().begin(key, "g", now)).toEqual({ kind: "reused" });
  });

  it("is free for the same body when the first call died, and the dead call can record nothing", async () => {
    const key = aKey();
    const dead = receiptOf(await store().begin(key, "f", now));
    expect(await store().begin(key, "f", later(now, CLAIM_MS - 1))).toEqual({ kind: "running" });
    expect(await store().begin(key, "g", later(now, CLAIM_MS))).toEqual({ kind: "reused" });
    const next = receiptOf(await store().begin(key, "f", later(now, CLAIM_MS)));
    await store().finish(dead, 500, "late");
    await store().abandon(dead);
    expect(await store().begin(key, "f", later(now, CLAIM_MS))).toEqual({ kind: "running" });
    await store().finish(next, 200, "good");
    expect(await store().begin(key, "f", later(now, CLAIM_MS))).toMatchObject({ kind: "replay", body: "good" });
  });

  it("is given back by a call that changed nothing", async () => {
    const key = aKey();
    await store().abandon(receiptOf(await store().begin(key, "f", now)));
    expect((await store().begin(key, "another", now)).kind).toBe("started");
  });

  it("means nothing after 24 hours, though its item may still be there", async () => {
    const key = aKey();
    await store().finish(receiptOf(await store().begin(key, "f", now)), 200, "{}");
    expect((await store().begin(key, "g", later(now, DAY_MS - 1))).kind).toBe("reused");
    expect((await store().begin(key, "g", later(now, DAY_MS))).kind).toBe("started");
  });

  it("is scoped to organization, token and route", async () => {
    const key = aKey();
    await store().begin(key, "f", now);
    for (const other of [{ org: orgSlug("other") }, { tokenId: "u" }, { route: "cancel" }])
      expect((await store().begin({ ...key, ...other }, "g", now)).kind).toBe("started");
  });
});

describe("an answer recorded with its change", () => {
  const commit = (receipt: Receipt, sk: string) =>
    table.client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName: table.name, Item: { pk: "change", sk } } },
          recordAnswer(table, receipt, 200, "with the change"),
        ],
      }),
    );

  it("is replayed, and a later record does not replace it", async () => {
    const key = aKey();
    const receipt = receiptOf(await store().begin(key, "f", now));
    await commit(receipt, key.key);
    await store().finish(receipt, 500, "later");
    await store().abandon(receipt);
    expect(await store().begin(key, "f", now)).toEqual({ kind: "replay", status: 200, body: "with the change" });
  });

  it("stops the change of a call that lost its key to another", async () => {
    const key = aKey();
    const dead = receiptOf(await store().begin(key, "f", now));
    receiptOf(await store().begin(key, "f", later(now, CLAIM_MS)));
    await expect(commit(dead, key.key)).rejects.toThrow("ConditionalCheckFailed");
    const put = new PutCommand({
      TableName: table.name,
      Item: { pk: "change", sk: key.key },
      ConditionExpression: "attribute_not_exists(pk)",
    });
    await table.client.send(put);
  });
});
