import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { findOrganization } from "../../../shared/table/organizations.ts";
import { keys } from "../../../shared/table/keys.ts";
import { isLive, type NewToken, tokenStore } from "../../../shared/table/tokens.ts";
import { sharedTable, type Tables } from "../../support/table.ts";

let table: Tables;
beforeAll(async () => {
  table = await sharedTable();
});

const acme = orgSlug("acme");
const aToken = (tokenId: string, more: Partial<NewToken> = {}): NewToken => ({
  org: acme,
  tokenId,
  hash: `hash-of-${tokenId}`,
  name: `name of ${tokenId}`,
  scopes: ["read"],
  enumCase: "upper",
  createdAt: epochMs(1_000),
  expiresAt: null,
  ...more,
});

const aStore = async () => {
  const own = await table.another();
  return { own, store: tokenStore(own) };
};

describe("a token", () => {
  it("is found by its hash, with its organization", async () => {
    const { store } = await aStore();
    await store.add(aToken("a", { scopes: ["read", "admin"], enumCase: "lower", expiresAt: epochMs(9_000) }));
    expect(await store.findByHash("hash-of-a")).toEqual({
      org: "acme",
      tokenId: "a",
      name: "name of a",
      scopes: ["read", "admin"],
      enumCase: "lower",
      createdAt: 1_000,
      expiresAt: 9_000,
      revokedAt: null,
    });
    expect(await store.findByHash("hash-of-b")).toBeUndefined();
  });

  it("that its organization's list does not have opens nothing, whatever else the table holds", async () => {
    const { own, store } = await aStore();
    await store.add(aToken("a"));
    const { Items = [] } = await own.client.send(new ScanCommand({ TableName: own.name }));
    const real = Items.find((item) => item["pk"] === keys.tokenByHash("hash-of-a").pk);
    const forged = (hash: string, more: object) =>
      own.client.send(
        new PutCommand({ TableName: own.name, Item: { ...real, ...keys.tokenByHash(hash), hash, ...more } }),
      );
    await forged("mine", { tokenId: "mine" });
    await forged("same id", { scopes: ["admin"] });
    await forged("elsewhere", { org: "victim" });
    for (const hash of ["mine", "same id", "elsewhere"]) expect(await store.findByHash(hash)).toBeUndefined();
    // What the list says counts.
    await forged("hash-of-a", { scopes: ["read", "submit", "admin"] });
    expect(await store.findByHash("hash-of-a")).toMatchObject({ scopes: ["read"] });
  });

  it("makes its organization once, and keeps the first", async () => {
    const { own, store } = await aStore();
    expect(await findOrganization(own, acme)).toBeUndefined();
    await store.add(aToken("a"));
    await store.add(aToken("b", { createdAt: epochMs(2_000) }));
    expect(await findOrganization(own, acme)).toEqual({ slug: "acme", createdAt: 1_000 });
  });

  it("is listed in its own organization only, oldest first, without its hash", async () => {
    const { store } = await aStore();
    await store.add(aToken("b", { createdAt: epochMs(2_000) }));
    await store.add(aToken("z"));
    await store.add(aToken("other", { org: orgSlug("acme-2") }));
    const listed = await store.list(acme);
    expect(listed.map((one) => one.tokenId)).toEqual(["z", "b"]);
    expect(JSON.stringify(listed)).not.toContain("hash-of");
  });

  it("is revoked in both places at once, and once", async () => {
    const { store } = await aStore();
    await store.add(aToken("a"));
    expect(await store.revoke(acme, "a", epochMs(5_000))).toBe("REVOKED");
    expect((await store.findByHash("hash-of-a"))?.revokedAt).toBe(5_000);
    expect((await store.list(acme))[0]?.revokedAt).toBe(5_000);
    expect(await store.revoke(acme, "a", epochMs(6_000))).toBe("GONE");
    expect(await store.revoke(acme, "never-made", epochMs(6_000))).toBe("GONE");
    expect((await store.findByHash("hash-of-a"))?.revokedAt).toBe(5_000);
  });

  it("cannot be revoked by another organization", async () => {
    const { store } = await aStore();
    await store.add(aToken("a"));
    expect(await store.revoke(orgSlug("evil"), "a", epochMs(5_000))).toBe("GONE");
    expect((await store.findByHash("hash-of-a"))?.revokedAt).toBeNull();
  });

  it("is replaced by exactly one of many rotations at once", async () => {
    const { store } = await aStore();
    await store.add(aToken("a"));
    const rotations = Array.from({ length: 8 }, (_, at) => store.replace(acme, "a", aToken(`new-${at}`)));
    const outcomes = await Promise.all(rotations);
    expect(outcomes.filter((outcome) => outcome === "REVOKED")).toHaveLength(1);
    const live = (await store.list(acme)).filter((token) => token.revokedAt === null);
    expect(live.map((token) => token.tokenId)).toEqual([`new-${outcomes.indexOf("REVOKED")}`]);
  });

  it("is never stored under its hash twice", async () => {
    const { store } = await aStore();
    await store.add(aToken("a"));
    await expect(store.add(aToken("b", { hash: "hash-of-a", org: orgSlug("evil") }))).rejects.toThrow(
      "ConditionalCheckFailed",
    );
    expect((await store.findByHash("hash-of-a"))?.org).toBe("acme");
  });

  it("carries entity and schema in every item", async () => {
    const { own, store } = await aStore();
    await store.add(aToken("a"));
    const { Items = [] } = await own.client.send(new ScanCommand({ TableName: own.name }));
    expect(Items.map(({ entity, schema }) => `${entity} ${schema}`).toSorted()).toEqual([
      "ORGANIZATION 1",
      "TOKEN 1",
      "TOKEN 1",
    ]);
  });
});

describe("a live token", () => {
  it.each([
    [{ expiresAt: null, revokedAt: null }, true],
    [{ expiresAt: epochMs(1_001), revokedAt: null }, true],
    [{ expiresAt: epochMs(1_000), revokedAt: null }, false],
    [{ expiresAt: null, revokedAt: epochMs(999) }, false],
  ])("%j at 1000: %j", (token, live) => expect(isLive(token, epochMs(1_000))).toBe(live));
});
