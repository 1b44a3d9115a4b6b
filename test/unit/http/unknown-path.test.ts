import { describe, expect, it } from "vitest";
import { handler } from "../../../functions/api/unknown-path.ts";
import { anEvent, errorOf } from "./support.ts";

const ask = async (method: string, path: string, query?: Record<string, string>) =>
  handler(anEvent({ method, path, lambda: null, ...(query === undefined ? {} : { query }) }));

it.each(["/", "/v1", "/v1/", "/v1/nope", "/v1/getqueue", "/v1/getQueue/", "/v2/getQueue", "//getQueue"])(
  "an unknown path is a 404 in our shape: %s",
  async (path) => {
    expect(errorOf(await ask("POST", path))).toMatchObject({ status: 404, code: "UNKNOWN_PATH" });
  },
);

it.each([
  ["GET", "/v1/getQueue", "POST"],
  ["DELETE", "/v1/setImpactedTargets/upload", "POST"],
  ["POST", "/v1/status", "GET"],
])("a known path with another method is a 405 with Allow: %s %s", async (method, path, allow) => {
  const answer = await ask(method, path);
  expect(errorOf(answer)).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
  expect(answer.headers["allow"]).toBe(allow);
});

describe("repeated slashes are a 308", () => {
  it.each([
    ["//v1/getQueue", "/v1/getQueue"],
    ["/v1//getQueue", "/v1/getQueue"],
    ["///v1////flaky-tests//list-failing-tests", "/v1/flaky-tests/list-failing-tests"],
  ])("%s → %s", async (path, location) => {
    const answer = await ask("POST", path);
    expect(answer.statusCode).toBe(308);
    expect(answer.headers).toMatchObject({ location, "x-request-id": "req-1" });
  });

  it("keep their query", async () => {
    const answer = await ask("GET", "//v1/getMergeQueueMetrics", { repo: "a/b", repoHost: "c.d" });
    expect(answer.headers["location"]).toBe("/v1/getMergeQueueMetrics?repo=a%2Fb&repoHost=c.d");
  });

  it.each(["//evil.example/v1/x", "//\\evil.example", "///evil.example//", "/\\/evil.example"])(
    "never lead elsewhere: %s",
    async (path) => {
      const answer = await ask("GET", path);
      expect(answer.statusCode).toBe(404);
      expect(answer.headers["location"]).toBeUndefined();
    },
  );

  it.each(["//v1/a\r\nSet-Cookie: x=1", "//v1/\\evil.example", "//v1/ä", "//v1/\ud800"])(
    "hold nothing that a header or a browser would read otherwise: %j",
    async (path) => {
      expect((await ask("GET", path)).headers["location"]).toMatch(/^\/v1\/[A-Za-z0-9%.:=-]+$/u);
    },
  );
});
