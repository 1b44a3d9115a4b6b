import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { commitSha, orgSlug, type RepoKey } from "../../shared/kernel/ids.ts";
import { impactedTargetsUpload } from "../../shared/schemas/pull-request.ts";
import { openTable } from "../../shared/table/client.ts";
import { hashesOf } from "../../shared/table/target-hashes.ts";
import { targetsStore } from "../../shared/table/targets-store.ts";
import { errorOf } from "../support/contract.ts";
import type { Called } from "../support/server.ts";
import { aServiceProcess, type Fields, type QueueClient, type ServiceProcess, shown } from "../support/service.ts";

const MIB = 1024 * 1024;
const LIMIT = 20 * MIB;
const SHA = "a".repeat(40);

let service: ServiceProcess;
let queue: QueueClient;
let repo: RepoKey;
beforeAll(async () => {
  service = await aServiceProcess();
  const made = await service.queue();
  queue = made.queue;
  repo = made.repo.key;
});
afterAll(async () => {
  await service.stop();
});

const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Called> =>
  service.asks("/setImpactedTargets", undefined, {
    body,
    headers: { "content-type": "application/json", "x-api-token": service.server().adminToken, ...headers },
  });
const text = (impactedTargets: unknown, pr: Fields = { number: 1, sha: SHA }): string =>
  JSON.stringify({ ...queue.at, pr, impactedTargets });
const set = (impactedTargets: unknown, pr?: Fields): Promise<Called> => send(text(impactedTargets, pr));

/** A body of exactly so many bytes: the queue, one target, and room in a field that nobody reads. */
function bodyOfBytes(bytes: number): string {
  const bare = JSON.stringify({ ...queue.at, pr: { number: 1, sha: SHA }, impactedTargets: ["a"], room: "" });
  return bare.replace(/""\}$/u, `"${"x".repeat(bytes - Buffer.byteLength(bare))}"}`);
}

describe("the size of a body", () => {
  it("takes 20 MiB exactly, and refuses one byte more with a message that names ALL", async () => {
    expect((await send(bodyOfBytes(LIMIT))).status).toBe(200);
    const answer = await send(bodyOfBytes(LIMIT + 1));
    expect([answer.status, errorOf(answer).code]).toEqual([413, "BODY_TOO_LARGE"]);
    expect(errorOf(answer).message).toContain('"ALL"');
  });

  it("counts decoded bytes: 20 MiB of gzip content is taken, one byte more is not", async () => {
    const gzip = { "content-encoding": "gzip" };
    expect((await send(gzipSync(bodyOfBytes(LIMIT)), gzip)).status).toBe(200);
    expect((await send(gzipSync(bodyOfBytes(LIMIT + 1)), gzip)).status).toBe(413);
  });

  it("refuses a body far above the limit without reading it to its end", async () => {
    const answer = await send(Buffer.alloc(60 * MIB, 0x20));
    expect(answer.status).toBe(413);
  });

  it("refuses a bomb at the cost of the cap, and goes on", async () => {
    const layers = gzipSync(Buffer.alloc(1024 * MIB, 0x20), { level: 1 });
    const before = residentBytes();
    const answers = await Promise.all([send(layers, { "content-encoding": "gzip" }), send(layers)]);
    expect(answers.map((one) => one.status)).toEqual([413, 413]);
    expect(residentBytes() - before).toBeLessThan(300 * MIB);
    expect((await set(["a"])).status).toBe(200);
  });

  it("a gzip body that was cut short, or damaged, is 400 and says so", async () => {
    const whole = gzipSync(text(Array.from({ length: 1000 }, (_, at) => `target-${at}`)));
    const damaged = Buffer.from(whole);
    damaged.fill(0, 40, 80);
    for (const body of [whole.subarray(0, -10), whole.subarray(0, 12), damaged]) {
      const answer = await send(body, { "content-encoding": "gzip" });
      expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"]);
      expect(errorOf(answer).message).toMatch(/damaged or was cut short/u);
    }
  });

  it.each([
    { "content-encoding": "gzip" },
    { "content-type": "application/gzip" },
    { "content-type": "application/gzip", "content-encoding": "gzip" },
  ] as const)("understands gzip sent as %j", async (headers) => {
    const { status, body } = await send(gzipSync(text(["a", "b"])), { ...headers });
    expect([status, body]).toEqual([200, { prNumber: 1, prSha: SHA, impactedTargets: 2 }]);
  });
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${service.server().pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) * 1024;
}

/** What the store holds for a PR's commit: its set as it would be compared. */
async function storedSet(prNumber: number, sha: string) {
  const { endpoint, table: name } = z
    .object({ endpoint: z.string(), table: z.string() })
    .parse(JSON.parse(readFileSync(join(service.server().data, "endpoint"), "utf8")));
  const table = openTable({ name, endpoint });
  const store = targetsStore(table, blobFolder(join(service.server().data, "blobs")));
  const org = orgSlug("local");
  const found = await store.find(org, repo, prNumber, commitSha(sha));
  if (found?.targets.kind !== "SET") throw new Error("no set");
  const hashes = (await store.hashes(org, [found.targets])).get(found.targets.digest);
  table.client.destroy();
  return {
    ...found.targets,
    shown: found.shown,
    hashes: Buffer.from(hashes?.buffer ?? new ArrayBuffer()).toString("hex"),
  };
}

const hexOf = (targets: readonly string[]): string => Buffer.from(hashesOf(targets)).toString("hex");

describe("impacted targets", () => {
  it.each(["ALL", "all", "IMPACTS_ALL", "Impacts_All"])("%j means everything", async (all) => {
    expect((await set(all)).body).toEqual({ prNumber: 1, prSha: SHA, impactedTargets: "ALL" });
  });

  it("[] is a set, and duplicates count once", async () => {
    expect((await set([])).body).toMatchObject({ impactedTargets: 0 });
    expect((await set(["b", "a", "b", "a"])).body).toMatchObject({ impactedTargets: 2 });
    expect((await storedSet(1, SHA)).hashes).toBe(hexOf(["a", "b"]));
  });

  it("the last upload for a commit wins; another commit's is its own", async () => {
    await set(["a"], { number: 2, sha: SHA });
    await set(["b", "c"], { number: 2, sha: "b".repeat(40) });
    await set(["d"], { number: "2", sha: SHA.toUpperCase() });
    expect((await storedSet(2, SHA)).hashes).toBe(hexOf(["d"]));
    expect((await storedSet(2, "b".repeat(40))).hashes).toBe(hexOf(["b", "c"]));
  });

  it("100,000 of them are stored and read back as the same set", async () => {
    const targets = Array.from({ length: 100_000 }, (_, at) => `//pkg/${at % 317}:target-${at}`);
    expect((await set([...targets, ...targets.slice(0, 500)], { number: 3, sha: SHA })).body).toMatchObject({
      impactedTargets: 100_000,
    });
    const stored = await storedSet(3, SHA);
    expect(stored.count).toBe(100_000);
    expect(stored.hashes === hexOf(targets.toReversed())).toBe(true);
    expect(stored.shown.every((one) => targets.includes(one))).toBe(true);
  });

  it("20 MiB of them are stored and read back as the same set", async () => {
    const room = LIMIT - text([]).length;
    const targets = Array.from({ length: Math.floor(room / 24) }, (_, at) => `t${String(at).padStart(20, "0")}`);
    const body = text(targets, { number: 4, sha: SHA });
    expect(LIMIT - body.length).toBeLessThan(100);
    expect((await send(body)).body).toEqual({ prNumber: 4, prSha: SHA, impactedTargets: targets.length });
    const stored = await storedSet(4, SHA);
    expect(stored.count).toBe(targets.length);
    expect(stored.hashes === hexOf(targets)).toBe(true);
  });

  it.each([
    { what: "an empty string", targets: ["a", ""], path: "impactedTargets.1" },
    { what: "a number among strings", targets: ["a", 5], path: "impactedTargets.1" },
    { what: "null among strings", targets: [null], path: "impactedTargets.0" },
    { what: "a target of 4 KiB and a byte", targets: ["x".repeat(4097)], path: "impactedTargets.0" },
    { what: "the same in characters of two bytes", targets: ["é".repeat(2049)], path: "impactedTargets.0" },
    { what: "a lone high surrogate", targets: ["a\uD800"], path: "impactedTargets.0" },
    { what: "a lone low surrogate", targets: ["\uDC00b"], path: "impactedTargets.0" },
    { what: "another word than ALL", targets: "some", path: "impactedTargets" },
    { what: "an object", targets: {}, path: "impactedTargets" },
    { what: "null", targets: null, path: "impactedTargets" },
  ])("$what is 400 with its place", async ({ targets, path }) => {
    const answer = await set(targets);
    expect([answer.status, errorOf(answer).issues?.[0]?.path]).toEqual([400, path]);
  });

  it("takes 4 KiB in one target, any Unicode, and the names of an object's own members", async () => {
    const targets = ["x".repeat(4096), "😀", "\u0000", "__proto__", "constructor", "toString", " ", "a\nb"];
    expect((await set(targets, { number: 5, sha: SHA })).body).toMatchObject({ impactedTargets: targets.length });
    expect((await storedSet(5, SHA)).hashes).toBe(hexOf(targets));
  });

  it("a field named __proto__ is refused, wherever it stands", async () => {
    for (const body of ['{"__proto__":{}}', text(["a"]).replace('"pr":{', '"pr":{"__proto__":{"number":1},')])
      expect((await send(body)).status).toBe(400);
  });

  it("without pr.sha they are of the PR's present head; of a PR that is not there they are 404", async () => {
    const made = await service.queue();
    const head = made.repo.pullRequest(9, { files: { "a.txt": "1\n" } });
    const answer = await made.queue.asks("/setImpactedTargets", { pr: { number: 9 }, impactedTargets: ["a"] });
    expect(answer.body).toEqual({ prNumber: 9, prSha: head, impactedTargets: 1 });
    const none = await made.queue.asks("/setImpactedTargets", { pr: { number: 10 }, impactedTargets: ["a"] });
    expect([none.status, errorOf(none).code]).toEqual([404, "PULL_REQUEST_NOT_FOUND"]);
    expect((await made.queue.submit(9)).readiness.hasImpactedTargets).toBe(true);
    const ended = await made.queue.ends(9);
    expect(ended).toMatchObject({ state: "MERGED", readiness: { hasImpactedTargets: true } });
  });
});

describe("the upload side door", () => {
  const pr = (number: number, sha = SHA): Fields => ({ pr: { number, sha } });
  const granted = async (number: number) =>
    shown(impactedTargetsUpload, await queue.asks("/setImpactedTargets/upload", pr(number)));
  type Grant = Awaited<ReturnType<typeof granted>>;
  const post = ({ url, fields }: Pick<Grant, "url" | "fields">, file: string | Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", new Blob([file]), "targets.json");
    return fetch(url, { method: "POST", body: form });
  };
  const use = (uploadId: string, fields: Fields): Promise<Called> =>
    queue.asks("/setImpactedTargets", { uploadId, ...fields });

  it("takes a set by form, plain or gzip, and sets it for the commit that it was granted for", async () => {
    const targets = Array.from({ length: 50_000 }, (_, at) => `target-${at}`);
    for (const [number, file] of [
      [21, JSON.stringify(targets)],
      [22, gzipSync(JSON.stringify(targets))],
    ] as const) {
      const grant = await granted(number);
      expect((await post(grant, file)).status).toBe(204);
      expect((await use(grant.uploadId, pr(number))).body).toEqual({
        prNumber: number,
        prSha: SHA,
        impactedTargets: 50_000,
      });
      expect((await storedSet(number, SHA)).hashes === hexOf(targets)).toBe(true);
    }
  });

  it("is taken once: the second use of the form is refused, and the first file stays", async () => {
    const grant = await granted(23);
    await post(grant, '["a"]');
    expect((await post(grant, '["a","b"]')).status).toBe(403);
    expect((await use(grant.uploadId, pr(23))).body).toMatchObject({ impactedTargets: 1 });
  });

  it("an upload of another PR, commit, queue or organization is 404 UPLOAD_NOT_FOUND, as is none at all", async () => {
    const grant = await granted(24);
    expect((await use(grant.uploadId, pr(24))).status).toBe(404);
    await post(grant, '["a"]');
    const elsewhere = await service.queue();
    const stranger = service.as(await service.token("create", "--org", "other", "--scopes", "submit,admin"));
    await stranger("/createQueue", queue.at);
    const uses = [
      use(grant.uploadId, pr(25)),
      use(grant.uploadId, pr(24, "b".repeat(40))),
      elsewhere.queue.asks("/setImpactedTargets", { uploadId: grant.uploadId, ...pr(24) }),
      stranger("/setImpactedTargets", { ...queue.at, uploadId: grant.uploadId, ...pr(24) }),
      use("nothing", pr(24)),
      use(`../../${grant.uploadId}`, pr(24)),
    ];
    for (const answer of await Promise.all(uses))
      expect([answer.status, errorOf(answer).code]).toEqual([404, "UPLOAD_NOT_FOUND"]);
    expect((await use(grant.uploadId, pr(24))).status).toBe(200);
  });

  it("needs pr.sha, and exactly one of uploadId and impactedTargets", async () => {
    const missing = await queue.asks("/setImpactedTargets/upload", { pr: { number: 1 } });
    expect([missing.status, errorOf(missing).issues?.[0]?.path]).toEqual([400, "pr.sha"]);
    expect((await use("x", { pr: { number: 1 } })).status).toBe(400);
    expect((await use("x", { ...pr(1), impactedTargets: [] })).status).toBe(400);
    expect((await queue.asks("/setImpactedTargets", pr(1))).status).toBe(400);
  });

  it("refuses a form that was tampered with, is no form, or holds too much", async () => {
    const grant = await granted(26);
    const later = { ...grant, fields: { ...grant.fields, expires: "9999999999999" } };
    expect((await post(later, "[]")).status).toBe(403);
    const another = { url: grant.url.replace(/[^/]+$/u, (await granted(27)).uploadId), fields: grant.fields };
    expect((await post(another, "[]")).status).toBe(403);
    expect((await fetch(grant.url, { method: "POST", body: "x" })).status).toBe(400);
    expect((await post(grant, Buffer.alloc(LIMIT + 1, 0x20))).status).toBe(400);
    expect((await post(grant, Buffer.alloc(60 * MIB, 0x20))).status).toBe(400);
    expect((await post(grant, "[]")).status).toBe(204);
  });

  it.each([
    ["not JSON", 400],
    ['["a",""]', 400],
    ['{"a":1}', 400],
    ["", 400],
  ])("a file that is %j is refused when it is used", async (file, status) => {
    const grant = await granted(28);
    await post(grant, file);
    expect((await use(grant.uploadId, pr(28))).status).toBe(status);
  });

  it("a file of 20 MiB is taken, and a gzip file may not hold more", async () => {
    const targets = Array.from({ length: 900_000 }, (_, at) => `t${String(at).padStart(19, "0")}`);
    const file = JSON.stringify(targets).padEnd(LIMIT, " ");
    expect(file.length).toBe(LIMIT);
    const whole = await granted(29);
    expect((await post(whole, file)).status).toBe(204);
    expect((await use(whole.uploadId, pr(29))).body).toMatchObject({ impactedTargets: 900_000 });
    const bomb = await granted(30);
    await post(bomb, gzipSync(`${file} `));
    expect((await use(bomb.uploadId, pr(30))).status).toBe(413);
  });
});

it("a client that asks for gzip gets an answer that it understands", async () => {
  const headers = { "x-api-token": service.server().adminToken, "content-type": "application/json" };
  const ask = (encoding: string) =>
    fetch(`${service.server().url}/getQueue`, {
      method: "POST",
      headers: { ...headers, "accept-encoding": encoding },
      body: JSON.stringify(queue.at),
    });
  const [plain, zipped] = await Promise.all([ask("identity"), ask("gzip")]);
  expect(await zipped.json()).toEqual(await plain.json());
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
