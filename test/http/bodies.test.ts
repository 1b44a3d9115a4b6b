import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { aService, type Service } from "../support/service.ts";
import { aDoor, type Door, hexOf, post, pr, SHA } from "./bodies.ts";

let service: Service;
let door: Door;
beforeAll(async () => {
  service = await aService();
  door = await aDoor(service);
});
afterAll(() => service.stop());

describe("the size of a body", () => {
  it("a gzip body that was cut short, or damaged, is 400 and says so", async () => {
    const whole = gzipSync(door.text(Array.from({ length: 1000 }, (_, at) => `target-${at}`)));
    const damaged = Buffer.from(whole);
    damaged.fill(0, 40, 80);
    for (const body of [whole.subarray(0, -10), whole.subarray(0, 12), damaged]) {
      const answer = await door.send(body, { "content-encoding": "gzip" });
      expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"]);
      expect(errorOf(answer).message).toMatch(/damaged or was cut short/u);
    }
  });

  it.each([
    { "content-encoding": "gzip" },
    { "content-type": "application/gzip" },
    { "content-type": "application/gzip", "content-encoding": "gzip" },
  ] as const)("understands gzip sent as %j", async (headers) => {
    const { status, body } = await door.send(gzipSync(door.text(["a", "b"])), { ...headers });
    expect([status, body]).toEqual([200, { prNumber: 1, prSha: SHA, impactedTargets: 2 }]);
  });
});

describe("impacted targets", () => {
  it.each(["ALL", "all", "IMPACTS_ALL", "Impacts_All"])("%j means everything", async (all) => {
    expect((await door.set(all)).body).toEqual({ prNumber: 1, prSha: SHA, impactedTargets: "ALL" });
  });

  it("[] is a set, and duplicates count once", async () => {
    expect((await door.set([])).body).toMatchObject({ impactedTargets: 0 });
    expect((await door.set(["b", "a", "b", "a"])).body).toMatchObject({ impactedTargets: 2 });
    expect((await door.storedSet(1, SHA)).hashes).toBe(hexOf(["a", "b"]));
  });

  it("the last upload for a commit wins; another commit's is its own", async () => {
    await door.set(["a"], { number: 2, sha: SHA });
    await door.set(["b", "c"], { number: 2, sha: "b".repeat(40) });
    await door.set(["d"], { number: "2", sha: SHA.toUpperCase() });
    expect((await door.storedSet(2, SHA)).hashes).toBe(hexOf(["d"]));
    expect((await door.storedSet(2, "b".repeat(40))).hashes).toBe(hexOf(["b", "c"]));
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
    const answer = await door.set(targets);
    expect([answer.status, errorOf(answer).issues?.[0]?.path]).toEqual([400, path]);
  });

  it("takes 4 KiB in one target, any Unicode, and the names of an object's own members", async () => {
    const targets = ["x".repeat(4096), "😀", "\u0000", "__proto__", "constructor", "toString", " ", "a\nb"];
    expect((await door.set(targets, { number: 5, sha: SHA })).body).toMatchObject({ impactedTargets: targets.length });
    expect((await door.storedSet(5, SHA)).hashes).toBe(hexOf(targets));
  });

  it("a field named __proto__ is refused, wherever it stands", async () => {
    for (const body of ['{"__proto__":{}}', door.text(["a"]).replace('"pr":{', '"pr":{"__proto__":{"number":1},')])
      expect((await door.send(body)).status).toBe(400);
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
  it("takes a set by form, plain or gzip, and sets it for the commit that it was granted for", async () => {
    const targets = Array.from({ length: 50_000 }, (_, at) => `target-${at}`);
    for (const [number, file] of [
      [21, JSON.stringify(targets)],
      [22, gzipSync(JSON.stringify(targets))],
    ] as const) {
      const grant = await door.granted(number);
      expect((await post(grant, file)).status).toBe(204);
      expect((await door.use(grant.uploadId, pr(number))).body).toEqual({
        prNumber: number,
        prSha: SHA,
        impactedTargets: 50_000,
      });
      expect((await door.storedSet(number, SHA)).hashes === hexOf(targets)).toBe(true);
    }
  });

  it("is taken once: the second use of the form is refused, and the first file stays", async () => {
    const grant = await door.granted(23);
    await post(grant, '["a"]');
    expect((await post(grant, '["a","b"]')).status).toBe(403);
    expect((await door.use(grant.uploadId, pr(23))).body).toMatchObject({ impactedTargets: 1 });
  });

  it("an upload of another PR, commit, queue or organization is 404 UPLOAD_NOT_FOUND, as is none at all", async () => {
    const grant = await door.granted(24);
    expect((await door.use(grant.uploadId, pr(24))).status).toBe(404);
    await post(grant, '["a"]');
    const elsewhere = await service.queue();
    const stranger = service.as(await service.token("create", "--org", "other", "--scopes", "submit,admin"));
    await stranger("/createQueue", door.queue.at);
    const uses = [
      door.use(grant.uploadId, pr(25)),
      door.use(grant.uploadId, pr(24, "b".repeat(40))),
      elsewhere.queue.asks("/setImpactedTargets", { uploadId: grant.uploadId, ...pr(24) }),
      stranger("/setImpactedTargets", { ...door.queue.at, uploadId: grant.uploadId, ...pr(24) }),
      door.use("nothing", pr(24)),
      door.use(`../../${grant.uploadId}`, pr(24)),
    ];
    for (const answer of await Promise.all(uses))
      expect([answer.status, errorOf(answer).code]).toEqual([404, "UPLOAD_NOT_FOUND"]);
    expect((await door.use(grant.uploadId, pr(24))).status).toBe(200);
  });

  it("needs pr.sha, and exactly one of uploadId and impactedTargets", async () => {
    const missing = await door.queue.asks("/setImpactedTargets/upload", { pr: { number: 1 } });
    expect([missing.status, errorOf(missing).issues?.[0]?.path]).toEqual([400, "pr.sha"]);
    expect((await door.use("x", { pr: { number: 1 } })).status).toBe(400);
    expect((await door.use("x", { ...pr(1), impactedTargets: [] })).status).toBe(400);
    expect((await door.queue.asks("/setImpactedTargets", pr(1))).status).toBe(400);
  });

  it.each([
    ["not JSON", 400],
    ['["a",""]', 400],
    ['{"a":1}', 400],
    ["", 400],
  ])("a file that is %j is refused when it is used", async (file, status) => {
    const grant = await door.granted(28);
    await post(grant, file);
    expect((await door.use(grant.uploadId, pr(28))).status).toBe(status);
  });
});

it("a client that asks for gzip gets an answer that it understands", async () => {
  const headers = { "x-api-token": service.server().adminToken, "content-type": "application/json" };
  const ask = (encoding: string) =>
    fetch(`${service.server().url}/getQueue`, {
      method: "POST",
      headers: { ...headers, "accept-encoding": encoding },
      body: JSON.stringify(door.queue.at),
    });
  const [plain, zipped] = await Promise.all([ask("identity"), ask("gzip")]);
  expect(await zipped.json()).toEqual(await plain.json());
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
