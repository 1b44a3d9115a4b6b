import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BlobStore, blobFolder } from "../../../infra/local/blob-folder.ts";
import { closeGateway, createGateway } from "../../../infra/local/gateway.ts";
import { type UploadForm, type UploadGrant, uploadSecret, uploads } from "../../../infra/local/uploads.ts";
import { silentLog } from "../../../shared/kernel/log.ts";
import { epochMs } from "../../../shared/kernel/time.ts";

const MIB = 1024 * 1024;
let folder = "";
let blobs: BlobStore;
const servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mainline-blobs-"));
  blobs = blobFolder(join(folder, "blobs"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await closeGateway(server, 100);
  rmSync(folder, { recursive: true, force: true });
});

async function aDoor() {
  let now = epochMs(1_000);
  let origin = "";
  const door = uploads({ blobs, secret: uploadSecret(folder), origin: () => origin, clock: () => now });
  const gateway = createGateway({
    routes: [],
    handler: async () => async () => ({ statusCode: 404, headers: {}, body: "" }),
    authorize: async () => ({ isAuthorized: true, context: {} }),
    log: silentLog,
    sideDoor: door.sideDoor,
  });
  servers.push(gateway);
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  origin = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
  const later = (ms: number): void => {
    now = epochMs(ms);
  };
  return { door, later };
}

const grant: UploadGrant = { uploadId: "u1", maxBytes: 20 * MIB, expiresAt: epochMs(2_000) };

async function send({ url, fields }: UploadForm, file: Uint8Array<ArrayBuffer>): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([file]), "targets.json");
  return (await fetch(url, { method: "POST", body: form })).status;
}
const bytes = (text: string) => Uint8Array.from(Buffer.from(text));

describe("a granted upload", () => {
  it("is taken byte for byte, up to 20 MiB", async () => {
    const { door } = await aDoor();
    const file = Uint8Array.from(randomBytes(20 * MIB));
    expect(await door.readUpload("u1")).toBeUndefined();
    expect(await send(await door.grantUpload(grant), file)).toBe(204);
    expect((await door.readUpload("u1"))?.equals(file)).toBe(true);
  });

  it("is taken once, also of many at once", async () => {
    const { door } = await aDoor();
    const form = await door.grantUpload(grant);
    const statuses = await Promise.all(["a", "b", "c", "d"].map((text) => send(form, bytes(text))));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 403, 403, 403]);
    expect((await door.readUpload("u1"))?.toString()).toBe("abcd"[statuses.indexOf(204)]);
  });

  it("is refused when it is larger than granted, late, unsigned or another's", async () => {
    const { door, later } = await aDoor();
    const form = await door.grantUpload({ ...grant, maxBytes: 3 });
    const signed = (query: Record<string, string>, key = "u1") => {
      const url = new URL(form.url.replace("u1", key));
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return { url: url.href, fields: { key } };
    };
    expect(await send(form, bytes("1234"))).toBe(400);
    expect(await send(signed({ "max-bytes": "99" }), bytes("1"))).toBe(403);
    expect(await send(signed({ signature: "" }), bytes("1"))).toBe(403);
    expect(await send(signed({}, "u2"), bytes("1"))).toBe(403);
    expect(await send({ ...form, fields: { key: "u2" } }, bytes("1"))).toBe(403);
    later(2_000);
    expect(await send(form, bytes("1"))).toBe(403);
    expect(await door.readUpload("u1")).toBeUndefined();
  });

  it("is refused when the form is far too large, and the sender gets to know", async () => {
    const { door } = await aDoor();
    expect(await send(await door.grantUpload(grant), new Uint8Array(25 * MIB))).toBe(400);
  });

  it.each(["", "not a form", "--x\r\n"])("is refused when it is no form: %j", async (body) => {
    const { door } = await aDoor();
    const { url } = await door.grantUpload(grant);
    for (const type of ["text/plain", "multipart/form-data", "multipart/form-data; boundary=x"])
      expect((await fetch(url, { method: "POST", body, headers: { "content-type": type } })).status).toBe(400);
  });

  it("outlives a restart", async () => {
    const form = await (await aDoor()).door.grantUpload(grant);
    const { door } = await aDoor();
    const again = await door.grantUpload(grant);
    expect([again.fields, new URL(again.url).search]).toEqual([form.fields, new URL(form.url).search]);
  });
});

describe("the blob folder", () => {
  it("gives back what was put, and leaves nothing half-written", async () => {
    await blobs.put("targets/abc", bytes("one"));
    await blobs.put("targets/abc", bytes("two"));
    expect((await blobs.get("targets/abc"))?.toString()).toBe("two");
    expect([await blobs.exists("targets/abc"), await blobs.exists("targets/abd")]).toEqual([true, false]);
    expect(readdirSync(join(folder, "blobs", "targets"))).toEqual(["abc"]);
    await blobs.remove("targets/abc");
    expect(await blobs.get("targets/abc")).toBeUndefined();
  });

  it.each(["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/.b", "a\0b", "a b"])(
    "has no key %j",
    async (key) => {
      await expect(async () => blobs.put(key, bytes("x"))).rejects.toThrow("no key of the blob store");
    },
  );
});
