/** Bodies as large as they may be, and larger: against a server whose memory can be looked at. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { aServiceProcess, type ServiceProcess } from "../support/service.ts";
import { aDoor, type Door, hexOf, LIMIT, MIB, post, SHA, pr } from "./bodies.ts";

let service: ServiceProcess;
let door: Door;
beforeAll(async () => {
  service = await aServiceProcess();
  door = await aDoor(service);
});
afterAll(() => service.stop());

function residentBytes(): number {
  const status = readFileSync(`/proc/${service.server().pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) * 1024;
}

describe("the size of a body", () => {
  it("takes 20 MiB exactly, and refuses one byte more with a message that names ALL", async () => {
    expect((await door.send(door.bodyOfBytes(LIMIT))).status).toBe(200);
    const answer = await door.send(door.bodyOfBytes(LIMIT + 1));
    expect([answer.status, errorOf(answer).code]).toEqual([413, "BODY_TOO_LARGE"]);
    expect(errorOf(answer).message).toContain('"ALL"');
  });

  it("counts decoded bytes: 20 MiB of gzip content is taken, one byte more is not", async () => {
    const gzip = { "content-encoding": "gzip" };
    expect((await door.send(gzipSync(door.bodyOfBytes(LIMIT)), gzip)).status).toBe(200);
    expect((await door.send(gzipSync(door.bodyOfBytes(LIMIT + 1)), gzip)).status).toBe(413);
  });

  it("refuses a body far above the limit without reading it to its end", async () => {
    const answer = await door.send(Buffer.alloc(60 * MIB, 0x20));
    expect(answer.status).toBe(413);
  });

  it("refuses a bomb at the cost of the cap, and goes on", async () => {
    const layers = gzipSync(Buffer.alloc(1024 * MIB, 0x20), { level: 1 });
    const before = residentBytes();
    const answers = await Promise.all([door.send(layers, { "content-encoding": "gzip" }), door.send(layers)]);
    expect(answers.map((one) => one.status)).toEqual([413, 413]);
    expect(residentBytes() - before).toBeLessThan(300 * MIB);
    expect((await door.set(["a"])).status).toBe(200);
  });
});

describe("impacted targets", () => {
  it("100,000 of them are stored and read back as the same set", async () => {
    const targets = Array.from({ length: 100_000 }, (_, at) => `//pkg/${at % 317}:target-${at}`);
    expect((await door.set([...targets, ...targets.slice(0, 500)], { number: 3, sha: SHA })).body).toMatchObject({
      impactedTargets: 100_000,
    });
    const stored = await door.storedSet(3, SHA);
    expect(stored.count).toBe(100_000);
    expect(stored.hashes === hexOf(targets.toReversed())).toBe(true);
    expect(stored.shown.every((one) => targets.includes(one))).toBe(true);
  });

  it("20 MiB of them are stored and read back as the same set", async () => {
    const room = LIMIT - door.text([]).length;
    const targets = Array.from({ length: Math.floor(room / 24) }, (_, at) => `t${String(at).padStart(20, "0")}`);
    const body = door.text(targets, { number: 4, sha: SHA });
    expect(LIMIT - body.length).toBeLessThan(100);
    expect((await door.send(body)).body).toEqual({ prNumber: 4, prSha: SHA, impactedTargets: targets.length });
    const stored = await door.storedSet(4, SHA);
    expect(stored.count).toBe(targets.length);
    expect(stored.hashes === hexOf(targets)).toBe(true);
  });
});

describe("the upload side door", () => {
  it("refuses a form that was tampered with, is no form, or holds too much", async () => {
    const grant = await door.granted(26);
    const later = { ...grant, url: grant.url.replace(/expires=\d+/u, "expires=9999999999999") };
    expect((await post(later, "[]")).status).toBe(403);
    const { uploadId } = await door.granted(27);
    const another = { ...grant, url: grant.url.replace(grant.uploadId, uploadId) };
    expect((await post(another, "[]")).status).toBe(403);
    expect((await fetch(grant.url, { method: "POST", body: "x" })).status).toBe(400);
    expect((await post(grant, Buffer.alloc(LIMIT + 1, 0x20))).status).toBe(400);
    expect((await post(grant, Buffer.alloc(60 * MIB, 0x20))).status).toBe(400);
    expect((await post(grant, "[]")).status).toBe(204);
  });

  it("a file of 20 MiB is taken, and a gzip file may not hold more", async () => {
    const targets = Array.from({ length: 900_000 }, (_, at) => `t${String(at).padStart(19, "0")}`);
    const file = JSON.stringify(targets).padEnd(LIMIT, " ");
    expect(file.length).toBe(LIMIT);
    const whole = await door.granted(29);
    expect((await post(whole, file)).status).toBe(204);
    expect((await door.use(whole.uploadId, pr(29))).body).toMatchObject({ impactedTargets: 900_000 });
    const bomb = await door.granted(30);
    await post(bomb, gzipSync(`${file} `));
    expect((await door.use(bomb.uploadId, pr(30))).status).toBe(413);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
