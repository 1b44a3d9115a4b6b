/** What an upload may look like, what is said of one that cannot be read, and that each counts once. */
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { aFolder } from "../support/git-repository.ts";
import { type HealthClient, healthClient, junit } from "../support/health.ts";
import type { Called } from "../support/server.ts";
import { aService, type Service } from "../support/service.ts";

const MIB = 1024 * 1024;
const LIMIT = 20 * MIB;

let service: Service;
let made = 0;
const aProject = (): HealthClient => healthClient(service.asks, service.server().adminToken, `project-${(made += 1)}`);
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

const told = (answer: Called) => [answer.status, errorOf(answer).code];
const idOf = ({ body }: Called): unknown => Reflect.get(Object(body), "uploadId");
const FILE = junit({ pays: "F", adds: ".", waits: "S" });
const READ = { tests: 3, failures: 1, errors: 0, skipped: 1, verdict: "FAIL", quarantined: [] };
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

describe("a file", () => {
  it.each([
    ["as application/xml", {}, bytes(FILE)],
    ["as text/xml with a charset", { "content-type": "Text/XML; charset=utf-8" }, bytes(FILE)],
    ["as octets", { "content-type": "application/octet-stream" }, bytes(FILE)],
    ["as curl calls everything", { "content-type": "application/x-www-form-urlencoded" }, bytes(FILE)],
    ["in gzip that is said", { "content-encoding": "gzip" }, gzipSync(FILE)],
    ["in gzip by its type", { "content-type": "application/gzip" }, gzipSync(FILE)],
    ["in gzip that nobody says", {}, gzipSync(FILE)],
    ["with a byte-order mark", {}, bytes(`\uFEFF${FILE}`)],
    ["in UTF-16", {}, new Uint8Array(Buffer.from(`\uFEFF${FILE}`, "utf16le"))],
  ] as const)("is read %s", async (_, headers, file) => {
    const { status, body } = await aProject().sends(file, {}, { ...headers });
    expect([status, body]).toMatchObject([200, READ]);
  });

  it.each(["text/plain", "application/json", "multipart/form-data; boundary=x", "image/png"])(
    "as %s is 415, which says what to send",
    async (type) => {
      const answer = await aProject().sends(FILE, {}, { "content-type": type });
      expect(told(answer)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      expect(errorOf(answer).message).toContain("application/xml");
    },
  );

  it("in an encoding that is not gzip is 415", async () => {
    expect((await aProject().sends(FILE, {}, { "content-encoding": "br" })).status).toBe(415);
  });

  it("of 20 MiB is taken, whole or as what gzip holds, and of one byte more is 413", async () => {
    const project = aProject();
    const ofBytes = (count: number) => bytes(FILE.padEnd(count, " "));
    for (const file of [ofBytes(LIMIT), gzipSync(ofBytes(LIMIT))])
      expect((await project.sends(file)).body).toMatchObject(READ);
    for (const file of [ofBytes(LIMIT + 1), gzipSync(ofBytes(LIMIT + 1)), new Uint8Array(40 * MIB).fill(0x20)])
      expect(told(await project.sends(file))).toEqual([413, "BODY_TOO_LARGE"]);
  });

  it("that is a bomb is 413 and the service goes on", async () => {
    const project = aProject();
    const bomb = gzipSync(Buffer.alloc(300 * MIB, 0x20), { level: 1 });
    expect(told(await project.sends(bomb))).toEqual([413, "BODY_TOO_LARGE"]);
    expect((await project.sends(FILE)).status).toBe(200);
  });

  it.each([
    ["nothing", "", /empty|0 bytes/u],
    ["a page of HTML", "<!doctype html><html><body><h1>502</h1></body></html>", /HTML/u],
    ["JSON", '{"tests":1}', /./u],
    ["text", "ok 1 - adds\nnot ok 2 - pays\n", /./u],
    ["another XML", '<?xml version="1.0"?><project><target name="x"/></project>', /project/u],
    ["cut gzip", gzipSync(FILE).subarray(0, -9), /damaged|cut short/u],
  ])("that is %s is 400, says what it is, and changes nothing", async (_, file, says) => {
    const project = aProject();
    const answer = await project.sends(typeof file === "string" ? file : new Uint8Array(file));
    expect(told(answer)).toEqual([400, "INVALID_REQUEST"]);
    expect(errorOf(answer).message).toMatch(says);
    expect((await project.failing()).page.total_rows).toBe(0);
  });

  it("that is damaged is read as far as it can be, and its issues say where", async () => {
    const { status, body } = await aProject().sends(FILE.slice(0, FILE.indexOf('name="waits"')));
    expect([status, body]).toMatchObject([200, { tests: 2, failures: 1, issues: [{ line: 2 }] }]);
  });

  it("without a case passes, with an issue", async () => {
    const { body } = await aProject().sends("<testsuites/>");
    expect(body).toMatchObject({
      tests: 0,
      verdict: "PASS",
      issues: [{ message: "There is no test case in this file." }],
    });
  });

  it("that curl sends with nothing but --data-binary is taken", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, "junit.xml"), FILE);
    const query = "repo=acme/app&repoHost=git.local&sha=abcdef1&branch=main";
    const { url, adminToken } = service.server();
    const args = ["-sS", "-H", `x-api-token: ${adminToken}`, "--data-binary", "@junit.xml"];
    const address = `${url}/flaky-tests/upload-test-results?${query}`;
    const said = await new Promise<string>((resolve, reject) => {
      execFile("curl", [...args, address], { cwd: folder }, (error, out) => (error ? reject(error) : resolve(out)));
    });
    rmSync(folder, { recursive: true });
    expect(JSON.parse(said)).toMatchObject(READ);
  });
});

describe("the facts of the run", () => {
  it("that are wrong are told all at once", async () => {
    const facts = { repo: "acme", repoHost: "a b", sha: "main", branch: "", pr: "x", attempt: 0, started_at: "now" };
    const answer = await aProject().sends(FILE, { ...facts, merge_queue: "maybe", job: "j".repeat(201) });
    expect(told(answer)).toEqual([400, "INVALID_REQUEST"]);
    expect(
      errorOf(answer)
        .issues?.map((one) => one.path)
        .sort(),
    ).toEqual(["attempt", "branch", "job", "merge_queue", "pr", "repo", "repoHost", "sha", "started_at"]);
  });

  it("that are missing are named", async () => {
    const facts = { repo: undefined, repoHost: undefined, sha: undefined, branch: undefined };
    const issues = errorOf(await aProject().sends(FILE, facts)).issues ?? [];
    expect(issues.map((one) => [one.path, one.message])).toEqual(
      ["repo", "repoHost", "sha", "branch"].map((path) => [path, "is required"]),
    );
  });

  it.each(["true", "TRUE", "1", "False", "0", ""])("take merge_queue=%s", async (flag) => {
    expect((await aProject().sends(FILE, { merge_queue: flag })).status).toBe(200);
  });

  it("count in lower case: the same commit in capitals is the same commit, and a repository has one list", async () => {
    const project = aProject();
    await project.sends(junit({ pays: "R" }), { sha: "ABCDEF1234" });
    await project.sends(junit({ pays: "R" }), { sha: "abcdef1234", attempt: 2 });
    expect((await project.unhealthy()).tests).toEqual([]);
    await project.sends(junit({ pays: "R" }), { sha: "abcdef1235" });
    const repo = { host: "Git.Local", owner: "ACME", name: `Project-${made}` };
    expect((await project.unhealthy({ repo })).tests).toHaveLength(1);
  });

  it("a variant makes another test of it", async () => {
    const project = aProject();
    await project.uploads({ pays: "F" }, { variant: "linux" });
    await project.uploads({ pays: "F" }, { variant: "windows" });
    const { tests } = await project.failing();
    expect(tests.map((one) => one.variant).sort()).toEqual(["linux", "windows"]);
    expect(new Set(tests.map((one) => one.id)).size).toBe(2);
  });
});

describe("the same file of the same run", () => {
  it("counts once, raw or compressed, one after the other or at the same moment", async () => {
    const project = aProject();
    const answers = await Promise.all([project.sends(FILE), project.sends(FILE), project.sends(gzipSync(FILE))]);
    answers.push(await project.sends(FILE));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(answers.map((one) => one.status)).toEqual([200, 200, 200, 200]);
    expect((await project.test("pays")).most_common_failures).toMatchObject([{ occurrence_count: 1 }]);
    const details = await project.details((await project.test("pays")).id);
    expect(details.history.map((one) => one.failed)).toEqual([1]);
  });

  it("twenty jobs that end together with the same failure are all taken", async () => {
    const project = aProject();
    const jobs = Array.from({ length: 20 }, (_, at) => project.sends(FILE, { job: `job ${at}` }));
    expect((await Promise.all(jobs)).map((one) => one.status)).toEqual(jobs.map(() => 200));
    expect((await project.test("pays")).most_common_failures).toMatchObject([{ occurrence_count: 20 }]);
  });

  it("under one Idempotency-Key is answered as the first time; another file under it is 422", async () => {
    const project = aProject();
    const key = { "idempotency-key": `build-${made}` };
    const first = await project.sends(FILE, {}, key);
    const again = await project.sends(FILE, {}, key);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const others = [project.sends(junit({ pays: "." }), {}, key), project.sends(FILE, { attempt: 2 }, key)];
    for (const answer of await Promise.all(others)) expect(told(answer)).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  });

  it("is looked up by get-upload; another one is 404", async () => {
    const project = aProject();
    const answer = await project.sends(FILE);
    const found = await project.asks("get-upload", { upload_id: idOf(answer) });
    expect(found.body).toMatchObject({
      upload_id: idOf(answer),
      state: "PROCESSED",
      problem: null,
      answer: answer.body,
    });
    expect(told(await project.asks("get-upload", { upload_id: "nothing" }))).toEqual([404, "UPLOAD_NOT_FOUND"]);
    expect(told(await aProject().asks("get-upload", { upload_id: idOf(answer) }))).toEqual([404, "UPLOAD_NOT_FOUND"]);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
