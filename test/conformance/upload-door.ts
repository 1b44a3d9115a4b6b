/** What an upload door and a blob store promise the service, whoever keeps the bytes. */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { epochMs } from "../../shared/kernel/time.ts";
import type { BlobStore } from "../../shared/queue/app/ports.ts";
import type { UploadDoor } from "../../shared/queue/app/uploads.ts";
import type { BundleDoor } from "../../shared/test-health/app/ports.ts";

export type Place = {
  readonly door: UploadDoor & BundleDoor;
  readonly blobs: BlobStore;
  /** Puts the clock of whoever takes uploads so far ahead of ours. */
  readonly ahead: (byMs: number) => void;
};

const MIB = 1024 * 1024;
const OPEN_MS = 15 * 60_000;

type Form = Awaited<ReturnType<UploadDoor["grantUpload"]>>;

export async function sendForm({ url, fields }: Form, file: Uint8Array<ArrayBuffer>): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([file]), "targets.json");
  return (await fetch(url, { method: "POST", body: form })).status;
}

export const sendPut = async (url: string, body: Uint8Array<ArrayBuffer>): Promise<number> =>
  (await fetch(url, { method: "PUT", body })).status;

export const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text));
const grantOf = (uploadId: string, maxBytes = 20 * MIB) => ({
  uploadId,
  maxBytes,
  expiresAt: epochMs(Date.now() + OPEN_MS),
});
const anUpload = (): string => randomUUID().replaceAll("-", "");
const aBundle = (): string => `bundle-${randomUUID()}`;
const textOf = (read: Uint8Array | undefined): string | undefined => read && Buffer.from(read).toString("utf8");

export function conformsAsUploadDoor(place: () => Place): void {
  it("takes a form's file byte for byte, up to 20 MiB, and nothing is there before", async () => {
    const { door } = place();
    const [id, file] = [anUpload(), Uint8Array.from(randomBytes(20 * MIB))];
    const form = await door.grantUpload(grantOf(id));
    expect(await door.readUpload(id)).toBeUndefined();
    expect(await sendForm(form, file)).toBe(204);
    expect(Buffer.from((await door.readUpload(id)) ?? []).equals(file)).toBe(true);
  });

  it("refuses a file that is larger than its form allows by one byte", async () => {
    const { door } = place();
    const id = anUpload();
    const form = await door.grantUpload(grantOf(id, 3));
    expect(await sendForm(form, bytes("1234"))).toBe(400);
    expect(await door.readUpload(id)).toBeUndefined();
    expect(await sendForm(form, bytes("123"))).toBe(204);
  });

  it("refuses a form for another upload, a changed one, and one that is late", async () => {
    const { door, ahead } = place();
    const [id, other] = [anUpload(), anUpload()];
    const form = await door.grantUpload(grantOf(id, 3));
    const forOther = await door.grantUpload(grantOf(other, 30));
    const key = (await door.grantUpload(grantOf(other))).fields["key"] ?? "";
    const changes = [{ key }, ...Object.keys(form.fields).map((name) => ({ [name]: forOther.fields[name] ?? "" }))];
    for (const change of changes.filter((one) => Object.entries(one).some(([name, to]) => form.fields[name] !== to)))
      expect(await sendForm({ url: form.url, fields: { ...form.fields, ...change } }, bytes("1"))).toBe(403);
    ahead(OPEN_MS);
    expect(await sendForm(form, bytes("1"))).toBe(403);
    ahead(0);
    expect([await door.readUpload(id), await door.readUpload(other)]).toEqual([undefined, undefined]);
  });

  it("keeps one whole file of several that were sent with one form", async () => {
    const { door } = place();
    const id = anUpload();
    const form = await door.grantUpload(grantOf(id));
    const statuses = await Promise.all(["aa", "bb", "cc"].map((text) => sendForm(form, bytes(text))));
    expect(statuses).toContain(204);
    expect(["aa", "bb", "cc"]).toContain(textOf(await door.readUpload(id)));
  });

  it("takes a bundle by PUT as existing clients send it, and removes it", async () => {
    const { door } = place();
    const id = aBundle();
    const url = await door.grantPut(grantOf(id, 256 * MIB));
    expect(await door.readUpload(id)).toBeUndefined();
    expect(await sendPut(url, bytes("a bundle"))).toBe(200);
    expect(textOf(await door.readUpload(id))).toBe("a bundle");
    await door.removeUpload(id);
    expect(await door.readUpload(id)).toBeUndefined();
    await expect(door.removeUpload(id)).resolves.toBeUndefined();
  });

  it("refuses a PUT to another address, with a changed one, and one that is late", async () => {
    const { door, ahead } = place();
    const [id, other] = [aBundle(), aBundle()];
    const url = await door.grantPut(grantOf(id));
    expect(await sendPut(url.replace(id, other), bytes("x"))).toBe(403);
    expect(await sendPut(url.replace(/(?<=[Ss]ignature=)\w{4}/u, "0000"), bytes("x"))).toBe(403);
    expect(await sendPut(url.split("?")[0] ?? "", bytes("x"))).toBe(403);
    ahead(OPEN_MS);
    expect(await sendPut(url, bytes("x"))).toBe(403);
    ahead(0);
    expect([await door.readUpload(id), await door.readUpload(other)]).toEqual([undefined, undefined]);
  });
}

export function conformsAsBlobStore(place: () => Place): void {
  it("gives back what was put, whatever the bytes, and undefined for what was not", async () => {
    const { blobs } = place();
    const key = `targets/acme/${randomUUID()}`;
    expect(await blobs.get(key)).toBeUndefined();
    const file = randomBytes(MIB);
    await blobs.put(key, file);
    expect(Buffer.from((await blobs.get(key)) ?? []).equals(file)).toBe(true);
    await blobs.put(key, Buffer.alloc(0));
    expect((await blobs.get(key))?.length).toBe(0);
  });

  it("writes one twice as once, also at the same time", async () => {
    const { blobs } = place();
    const key = `targets/acme/${randomUUID()}`;
    await Promise.all([1, 2, 3].map(() => blobs.put(key, bytes("the same"))));
    expect(textOf(await blobs.get(key))).toBe("the same");
  });
}
