import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { routes } from "../../../shared/api/routes.ts";
import { BODY_BYTES_MAX, bodyText } from "../../../shared/http/body.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import { nestsDeeperThan } from "../../../shared/http/nesting.ts";
import { ok } from "../../../shared/kernel/result.ts";
import { anEvent, call, errorOf, ports, REF_PR } from "./support.ts";

const GZIP = { "content-encoding": "gzip" };
const ARCHIVE = { "content-type": "application/gzip" };

const handler = endpoint(routes["set-impacted-targets"], ports(), async ({ input }) =>
  ok({ prNumber: input.pr.number, prSha: "", impactedTargets: input.impactedTargets?.length ?? "ALL" }),
);
const targetsOf = (impactedTargets: unknown): string => JSON.stringify({ ...REF_PR, impactedTargets });

/** A request of exactly so many bytes of JSON. */
function sized(bytes: number): string {
  const target = "x".repeat(4000);
  const many = targetsOf(Array.from({ length: Math.floor((bytes - 500) / 4003) }, () => target));
  return many + " ".repeat(bytes - many.length);
}

describe("gzip is read", () => {
  const body = gzipSync(targetsOf(["a", "b"]));

  it.each([
    ["by Content-Encoding", GZIP],
    ["by Content-Type", ARCHIVE],
    ["by both", { ...GZIP, ...ARCHIVE }],
  ])("%s", async (_, headers) => {
    expect(JSON.parse((await call(handler, { body, headers })).body)).toMatchObject({ impactedTargets: 2 });
  });

  it("as plain JSON where a gateway has undone it already", async () => {
    expect((await call(handler, { body: targetsOf([]), headers: GZIP })).statusCode).toBe(200);
    expect((await call(handler, { body: Buffer.from(targetsOf([])), headers: ARCHIVE })).statusCode).toBe(200);
  });

  it("in several members", async () => {
    const text = targetsOf(["a"]);
    const parts = [gzipSync(text.slice(0, 20)), gzipSync(text.slice(20))];
    expect((await call(handler, { body: Buffer.concat(parts), headers: GZIP })).statusCode).toBe(200);
  });

  it.each([1, 5, 12, 30])("not when it is cut short by %i bytes: 400", async (missing) => {
    const cut = body.subarray(0, body.length - missing);
    expect(errorOf(await call(handler, { body: cut, headers: GZIP }))).toMatchObject({ status: 400 });
  });

  it("not when its checksum is wrong: 400", async () => {
    const damaged = Buffer.from(body);
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 8) ^ 1, damaged.length - 8);
    expect(errorOf(await call(handler, { body: damaged, headers: GZIP })).status).toBe(400);
  });

  it.each(["br", "deflate", "gzip, gzip"])("alone: %s is a 415", async (encoding) => {
    const answer = await call(handler, { body, headers: { "content-encoding": encoding } });
    expect(errorOf(answer).status).toBe(415);
  });
});

describe("20 MiB", () => {
  const exact = sized(BODY_BYTES_MAX);
  const over = `${exact} `;

  it.each([
    ["as text", (text: string) => ({ body: text })],
    ["in base64", (text: string) => ({ body: Buffer.from(text) })],
    ["in gzip", (text: string) => ({ body: gzipSync(text, { level: 1 }), headers: GZIP })],
  ])("exactly are taken, one byte more is a 413 that names ALL: %s", async (_, sent) => {
    expect((await call(handler, sent(exact))).statusCode).toBe(200);
    const error = errorOf(await call(handler, sent(over)));
    expect(error).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
    expect(error.message).toContain('"ALL"');
  });

  it("are counted in bytes and not in characters", async () => {
    const wide = JSON.stringify("ä".repeat(BODY_BYTES_MAX / 2));
    expect(errorOf(await call(handler, { body: wide })).status).toBe(413);
  });

  it("are all that a gzip bomb makes us hold", async () => {
    // Two gigabytes of zeros in two megabytes: members may follow each other.
    const member = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
    const bomb = Buffer.concat(Array.from({ length: 32 }, () => member));
    const before = process.memoryUsage.rss();
    expect(errorOf(await call(handler, { body: bomb, headers: GZIP })).status).toBe(413);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  });
});

describe("text", () => {
  it("that is not UTF-8 is a 400", async () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(errorOf(await call(handler, { body })).status).toBe(400);
  });

  it("may begin with a byte order mark", async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(targetsOf([]))]);
    expect((await call(handler, { body })).statusCode).toBe(200);
  });

  it.each(["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/xml"])(
    "of type %s is a 415",
    async (type) => {
      expect(errorOf(await call(handler, { body: "{}", headers: { "content-type": type } })).status).toBe(415);
    },
  );
});

describe("nesting", () => {
  it.each([
    ["20 MiB of [", "[".repeat(BODY_BYTES_MAX)],
    ["20 MiB of [ and ]", "[".repeat(BODY_BYTES_MAX / 2) + "]".repeat(BODY_BYTES_MAX / 2)],
    ["objects", '{"a":'.repeat(100_000)],
  ])("that is too deep is a quick 400: %s", async (_, body) => {
    expect(errorOf(await call(handler, { body }))).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
  });

  it.each([
    ['["[[[[", "{{{{"]', false],
    ['"\\"[[[[["', false],
    ['"\\\\"[[[[', true],
    ["[[[]]][[[]]]", false],
    ["[[[[", true],
    ['"[[[[[', false],
    ['"\\', false],
  ])("is told from brackets within strings: %s", (text, deeper) => {
    expect(nestsDeeperThan(text, 3)).toBe(deeper);
  });

  // What looks back from each letter would not end.
  it("is judged in linear time however strings are escaped", async () => {
    await bodyText(anEvent({ body: `"${'\\"'.repeat(5_000_000)}"` }));
    await bodyText(anEvent({ body: `"${"\\\\".repeat(5_000_000)}"` }));
  });
});
