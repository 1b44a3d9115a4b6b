import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { closeGateway, createGateway } from "../../infra/local/gateway.ts";
import { uploadSecret, uploads } from "../../infra/local/uploads.ts";
import { blobsOnS3 } from "../../shared/blobs/s3-blobs.ts";
import { openBucket } from "../../shared/blobs/s3-client.ts";
import { uploadsOnS3 } from "../../shared/blobs/s3-uploads.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { epochMs, systemClock } from "../../shared/kernel/time.ts";
import { Unavailable } from "../../shared/kernel/unavailable.ts";
import { eventually } from "../support/eventually.ts";
import { BUCKET, type S3, startS3 } from "../support/s3.ts";
import { bytes, conformsAsBlobStore, conformsAsUploadDoor, type Place, sendForm, sendPut } from "./upload-door.ts";

type Stoppable = Place & { readonly stop: () => Promise<void> };

async function onThisMachine(): Promise<Stoppable> {
  const folder = mkdtempSync(join(tmpdir(), "mainline-blobs-"));
  const blobs = blobFolder(join(folder, "blobs"));
  let [byMs, origin] = [0, ""];
  const door = uploads({
    blobs,
    secret: uploadSecret(folder),
    origin: () => origin,
    clock: () => epochMs(Date.now() + byMs),
  });
  const gateway = createGateway({
    routes: [],
    handler: async () => async () => ({ statusCode: 404, headers: {}, body: "" }),
    authorize: async () => ({ isAuthorized: true, context: {} }),
    log: silentLog,
    sideDoor: door.sideDoor,
  });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  origin = `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
  return {
    door,
    blobs,
    ahead: (ms) => {
      byMs = ms;
    },
    stop: async () => {
      await closeGateway(gateway, 100);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function onS3(): Promise<Stoppable & { readonly s3: S3 }> {
  let byMs = 0;
  const s3 = await startS3(() => Date.now() + byMs);
  const bucket = openBucket({ name: BUCKET, endpoint: s3.endpoint });
  return {
    s3,
    door: uploadsOnS3(bucket, systemClock),
    blobs: blobsOnS3(bucket),
    ahead: (ms) => {
      byMs = ms;
    },
    stop: async () => {
      bucket.client.destroy();
      await s3.stop();
    },
  };
}

describe.each([
  ["the folder on this machine", onThisMachine],
  ["S3", onS3],
])("%s", (_, start) => {
  let place: Stoppable;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.stop());
  conformsAsUploadDoor(() => place);
  conformsAsBlobStore(() => place);
});

describe("what S3 promises in its own way", () => {
  let place: Awaited<ReturnType<typeof onS3>>;
  beforeAll(async () => {
    place = await onS3();
  });
  afterAll(() => place.stop());
  const until = () => epochMs(Date.now() + 900_000);

  it("keeps target lists, bundles and sets apart, so that each has its own end and its own readers", async () => {
    const { s3, door, blobs } = place;
    await sendForm(await door.grantUpload({ uploadId: "a1", maxBytes: 10, expiresAt: until() }), bytes("list"));
    await sendPut(await door.grantPut({ uploadId: "bundle-b1", maxBytes: 10, expiresAt: until() }), bytes("bundle"));
    await blobs.put("targets/acme/c1", bytes("set"));
    expect([...s3.objects.keys()].toSorted()).toEqual(["bundles/bundle-b1", "targets/acme/c1", "uploads/a1"]);
  });

  it("asks a client for no header and no checksum that it was not told of", async () => {
    const url = await place.door.grantPut({ uploadId: "bundle-b2", maxBytes: 10, expiresAt: until() });
    const query = new URL(url).searchParams;
    expect(query.get("X-Amz-SignedHeaders")).toBe("host");
    expect([...query.keys()].filter((name) => /checksum/iu.test(name))).toEqual([]);
    expect(Number(query.get("X-Amz-Expires"))).toBeLessThanOrEqual(900);
  });

  it("lets what came last under one grant stand: a header that would prevent it, clients do not send", async () => {
    const url = await place.door.grantPut({ uploadId: "bundle-b3", maxBytes: 10, expiresAt: until() });
    expect([await sendPut(url, bytes("first")), await sendPut(url, bytes("last"))]).toEqual([200, 200]);
    expect(Buffer.from((await place.door.readUpload("bundle-b3")) ?? []).toString()).toBe("last");
  });

  it("reads of what is too large one byte more than is allowed, and no more", async () => {
    place.s3.place("uploads/large", Buffer.alloc(100 * 1024 * 1024));
    expect((await place.door.readUpload("large"))?.length).toBe(20 * 1024 * 1024 + 1);
    await eventually(
      async () => place.s3.cut(),
      (cut) => cut === 1,
      { what: "the end of the connection" },
    );
  });

  it("is out of reach for a moment when S3 throttles, and broken when it refuses", async () => {
    place.s3.fail({ status: 503, code: "SlowDown" });
    await expect(place.blobs.get("targets/acme/x")).rejects.toBeInstanceOf(Unavailable);
    place.s3.fail({ status: 403, code: "AccessDenied" });
    await expect(place.door.readUpload("x")).rejects.toThrow("AccessDenied");
    place.s3.fail(undefined);
  });
});
