/** How answers are judged that no server on one machine gives. */
import { expect, it } from "vitest";
import { bodies } from "../../../infra/smoke/bodies.ts";
import type { Site } from "../../../infra/smoke/check.ts";
import type { Reply } from "../../../infra/smoke/http.ts";
import { open, tokens } from "../../../infra/smoke/open.ts";
import { paths } from "../../../infra/smoke/paths.ts";
import { aScratch } from "../../../infra/smoke/queue.ts";

const checks = [...bodies, ...paths, ...open, ...tokens];

const reply = (status: number, body: object = {}, headers: Reply["headers"] = { "x-request-id": "1" }): Reply => ({
  status,
  headers,
  text: JSON.stringify(body),
  json: body,
});
const error = (code: string, requestId = "1") => ({ error: { code, message: "m", requestId } });

async function verdict(name: string, given: Reply, where: Site["where"]): Promise<string> {
  const found = checks.find((check) => check.name.startsWith(name));
  if (found === undefined) throw new Error(`no check ${name}`);
  const send = async (): Promise<Reply> => given;
  const scratch = aScratch();
  const site: Site = { url: "", token: "t", readToken: "r", org: "o", where, scratch, send, ask: send };
  return (await found.run(site)).verdict;
}

it.each([
  ["a raw body of 5.5 MiB", reply(200), "gateway", "pass"],
  ["a raw body of 5.5 MiB", reply(413), "gateway", "fail"],
  ["a raw body of 7 MiB", reply(413, { message: "Request Too Long" }), "gateway", "pass"],
  ["a raw body of 7 MiB", reply(500), "gateway", "note"],
  ["a raw body of 7 MiB", reply(413), "local", "fail"],
  ["a raw body of 11 MiB", reply(413), "gateway", "pass"],
  ["gzip as application/gzip", reply(400), "gateway", "fail"],
  ["gzip as JSON with", reply(400, error("INVALID_REQUEST")), "gateway", "note"],
  ["gzip as JSON with", reply(500), "gateway", "fail"],
  ["a repeated slash", reply(200), "gateway", "note"],
  ["a repeated slash", reply(308, {}, { location: "/v1/getQueue" }), "gateway", "pass"],
  ["a repeated slash", reply(308, {}, { location: "https://elsewhere.example/" }), "gateway", "fail"],
  ["a letter of the path", reply(404, error("UNKNOWN_PATH")), "gateway", "note"],
  ["a letter of the path", reply(404, error("UNKNOWN_PATH")), "local", "fail"],
  ["no token: the gateway", reply(401, { message: "Unauthorized" }, {}), "gateway", "pass"],
  ["no token: the gateway", reply(401, error("UNAUTHENTICATED")), "gateway", "fail"],
  ["a malformed token", reply(401, { message: "Unauthorized" }), "gateway", "fail"],
  ["a malformed token", reply(403, { message: "Forbidden" }), "gateway", "fail"],
  ["a malformed token", reply(401, error("UNAUTHENTICATED", "another")), "gateway", "fail"],
  ["a token without the scope", reply(403, error("FORBIDDEN")), "gateway", "pass"],
  ["a token without the scope", reply(200), "gateway", "fail"],
  ["GET /status", reply(200, {}, {}), "gateway", "fail"],
  ["POST /webhooks", reply(401, error("UNAUTHENTICATED")), "gateway", "pass"],
  ["POST /webhooks", reply(200), "gateway", "fail"],
] as const)("%s: %j of a %s is %s", async (name, given, where, expected) => {
  expect(await verdict(name, given, where)).toBe(expected);
});
