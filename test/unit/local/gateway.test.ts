import { once } from "node:events";
import { type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { closeGateway, createGateway, type GatewayParts } from "../../../infra/local/gateway.ts";
import { allRoutes } from "../../../shared/api/routes.ts";
import type { ApiEvent, ApiHandler } from "../../../shared/http/event.ts";
import { silentLog } from "../../../shared/kernel/log.ts";

const MIB = 1024 * 1024;
const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await closeGateway(server, 100);
});

/** Answers every route with what it was called for, and remembers its events. */
async function aGateway(more: Partial<GatewayParts> = {}) {
  const events: ApiEvent[] = [];
  const looked: string[] = [];
  const echo =
    (id: string): ApiHandler =>
    async (event) => {
      events.push(event);
      return { statusCode: 200, headers: { "x-route": id }, body: id };
    };
  const server = createGateway({
    routes: allRoutes,
    handler: async (id) => echo(id),
    authorize: async (token) => {
      looked.push(token);
      return { isAuthorized: true, context: token.startsWith("good") ? { org: "acme" } : {} };
    },
    log: silentLog,
    ...more,
  });
  open.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return { port, events, looked, url: `http://127.0.0.1:${port}/v1` };
}

const GOOD = { "x-api-token": "good" };
const post = (url: string, init: RequestInit = {}) =>
  fetch(url, { method: "POST", headers: { ...GOOD, "content-type": "application/json" }, body: "{}", ...init });

/** Raw bytes to the port, and no more; everything that comes back. */
const raw = async (port: number, bytes: string | Buffer): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
  });
  socket.end(bytes);
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  return answer;
};

describe("a request", () => {
  it("arrives as API Gateway's event, format 2.0", async () => {
    const { url, events } = await aGateway();
    const answer = await post(`${url}/getQueue?a=1&b=x%20y&a=2`, {
      headers: { ...GOOD, "Content-Type": "application/json", "X-Custom": "One", cookie: "k=v; l=w" },
      body: '{"ü":1}',
    });
    expect(answer.status).toBe(200);
    expect(events[0]).toMatchObject({
      version: "2.0",
      routeKey: "get-queue",
      rawPath: "/v1/getQueue",
      rawQueryString: "a=1&b=x%20y&a=2",
      queryStringParameters: { a: "1,2", b: "x y" },
      cookies: ["k=v", "l=w"],
      headers: { "x-custom": "One", "content-type": "application/json", "x-api-token": "good" },
      body: '{"ü":1}',
      isBase64Encoded: false,
      requestContext: {
        http: { method: "POST", path: "/v1/getQueue" },
        stage: "$default",
        authorizer: { lambda: { org: "acme" } },
      },
    });
    expect(answer.headers.get("x-request-id")).toBe(events[0]?.requestContext.requestId);
  });

  it("has an id of its own each time", async () => {
    const { url, events } = await aGateway();
    for (let at = 0; at < 3; at += 1) await post(`${url}/getQueue`);
    expect(new Set(events.map((event) => event.requestContext.requestId)).size).toBe(3);
  });

  it("goes to unknown-path when no route has its path or method", async () => {
    const { url, events } = await aGateway();
    for (const [method, path] of [
      ["POST", "/nothing"],
      ["GET", "/getQueue"],
      ["DELETE", "/getQueue"],
      ["POST", "/getQueue/"],
      ["POST", "//getQueue"],
    ] as const)
      expect(await (await fetch(`${url}${path}`, { method })).text()).toBe("unknown-path");
    expect(events.every((event) => event.routeKey === "$default")).toBe(true);
  });

  it("in absolute form is the same request", async () => {
    const { port, events } = await aGateway();
    await raw(port, "GET http://example.org/v1/status?x=1 HTTP/1.1\r\nhost: a\r\n\r\n");
    expect(events[0]).toMatchObject({ routeKey: "get-status", rawPath: "/v1/status", rawQueryString: "x=1" });
  });

  it("may wait to be asked for its body", async () => {
    const { port, events } = await aGateway();
    const head =
      "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: good\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    const [asked, broken] = (await raw(port, head)).split("HTTP/1.1 400");
    expect([asked, broken === undefined]).toEqual(["HTTP/1.1 100 Continue\r\n\r\n", false]);
    expect(events).toEqual([]);
    expect(await raw(port, `${head}{}`)).toContain("HTTP/1.1 200 OK");
    expect(events.at(-1)?.body).toBe("{}");
  });

  it("that waits to be asked and is refused is not asked, and its connection ends", async () => {
    const { port } = await aGateway();
    const head = "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    const answer = await raw(port, head);
    expect(answer).toMatch(/^HTTP\/1.1 401 /u);
    expect(answer.toLowerCase()).toContain("connection: close");
  });
});

describe("a token", () => {
  it.each([[{}], [{ "x-api-token": "" }], [{ "x-api-token": "  " }]])(
    "that is missing or empty (%j) is refused by the gateway itself",
    async (headers) => {
      const { url, events, looked } = await aGateway();
      const answer = await post(`${url}/getQueue`, { headers });
      expect(answer.status).toBe(401);
      expect(await answer.text()).toBe('{"message":"Unauthorized"}');
      expect(events).toEqual([]);
      expect(looked).toEqual([]);
    },
  );

  it("is not needed where the route says so", async () => {
    const { url, events, looked } = await aGateway();
    expect((await fetch(`${url}/status`)).status).toBe(200);
    expect((await post(`${url}/setImpactedTargets`, { headers: {} })).status).toBe(200);
    expect(events.map((event) => event.requestContext.authorizer)).toEqual([undefined, undefined]);
    expect(looked).toEqual([]);
  });

  it("of nobody reaches the function without a principal, and its body is not read", async () => {
    const { url, events } = await aGateway();
    await post(`${url}/getQueue`, { headers: { "x-api-token": "bad" }, body: "x".repeat(MIB) });
    expect(events[0]?.requestContext.authorizer).toEqual({ lambda: {} });
    expect(events[0]?.body).toBeUndefined();
  });

  it("that comes twice is one that nobody was given", async () => {
    const { port, looked } = await aGateway();
    const answer = await raw(port, "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: a\r\nx-api-token: b\r\n\r\n");
    expect(answer).toContain("200 OK");
    expect(looked).toEqual(["a,b"]);
  });

  it("is looked up once for many requests at once", async () => {
    const { url, looked } = await aGateway();
    await Promise.all(Array.from({ length: 10 }, () => post(`${url}/getQueue`)));
    expect(looked).toEqual(["good"]);
  });

  it("whose look-up fails gives 500 in the gateway's shape, and the next request asks again", async () => {
    let calls = 0;
    const { url } = await aGateway({
      authorize: async () => {
        calls += 1;
        if (calls === 1) throw new Error("the table is away");
        return { isAuthorized: true, context: { org: "acme" } };
      },
    });
    const first = await post(`${url}/getQueue`);
    expect([first.status, await first.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
    expect((await post(`${url}/getQueue`)).status).toBe(200);
  });
});

describe("a body", () => {
  it("that is not UTF-8 arrives byte for byte, in base64", async () => {
    const { url, events } = await aGateway();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    await post(`${url}/getQueue`, { body: bytes });
    expect(events[0]).toMatchObject({ isBase64Encoded: true, body: bytes.toString("base64") });
  });

  it("in gzip arrives byte for byte", async () => {
    const { url, events } = await aGateway();
    const bytes = gzipSync("{}");
    await post(`${url}/getQueue`, { body: bytes, headers: { ...GOOD, "content-encoding": "gzip" } });
    expect(events[0]).toMatchObject({ isBase64Encoded: true, body: bytes.toString("base64") });
  });

  it("of 20 MiB arrives whole", async () => {
    const { url, events } = await aGateway();
    await post(`${url}/setImpactedTargets`, { body: "x".repeat(20 * MIB) });
    expect(events[0]?.body?.length).toBe(20 * MIB);
  });

  it("that is larger is cut where it is certain to be too large, and the client gets its answer", async () => {
    const { url, events } = await aGateway();
    const answer = await post(`${url}/setImpactedTargets`, { body: "x".repeat(40 * MIB) });
    expect(answer.status).toBe(200);
    expect(events[0]?.body?.length).toBe(20 * MIB + 64 * 1024 + 1);
    expect((await post(`${url}/getQueue`)).status).toBe(200);
  });

  it("that breaks off reaches no function", async () => {
    const { port, url, events } = await aGateway();
    await raw(port, "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: good\r\ncontent-length: 100\r\n\r\n{");
    expect(events).toEqual([]);
    expect((await post(`${url}/getQueue`)).status).toBe(200);
  });

  it("that never comes ends with 408", async () => {
    const { port, events } = await aGateway({ limits: { requestMs: 200, headersMs: 100 } });
    const socket = connect(port, "127.0.0.1");
    socket.write("POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: good\r\ncontent-length: 100\r\n\r\n{");
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("408 Request Timeout");
    socket.destroy();
    expect(events).toEqual([]);
  });
});

describe("a function", () => {
  it("that throws gives 500 without a word about why", async () => {
    const { url } = await aGateway({ handler: async () => () => Promise.reject(new Error("secret")) });
    const answer = await post(`${url}/getQueue`);
    expect([answer.status, await answer.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
  });

  it("that takes too long gives 503", async () => {
    const { url } = await aGateway({ handler: async () => () => new Promise(() => {}), limits: { handlerMs: 50 } });
    expect((await post(`${url}/getQueue`)).status).toBe(503);
  });

  it("ends its answer before the server stops", async () => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow: ApiHandler = async () => {
      asked.resolve();
      await release.promise;
      return { statusCode: 200, headers: {}, body: "late" };
    };
    const { url } = await aGateway({ handler: async () => slow });
    const asking = post(`${url}/getQueue`);
    await asked.promise;
    const closing = open.splice(0).map((server) => closeGateway(server, 120_000));
    release.resolve();
    await Promise.all(closing);
    expect(await (await asking).text()).toBe("late");
  });
});

describe("hostile input", () => {
  it.each(
    [
      "GET /v1/%00 HTTP/1.1\r\nhost: a\r\n\r\n",
      "GET /v1/%zz%ff%C0%AF HTTP/1.1\r\nhost: a\r\n\r\n",
      "GET //evil.example/v1/../.. HTTP/1.1\r\nhost: a\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
      "GET http:// HTTP/1.1\r\nhost: a\r\n\r\n",
      "GET /v1/status?%zz&=&&a&__proto__=1 HTTP/1.1\r\nhost: a\r\n__proto__: x\r\n\r\n",
      "GET /v1/status HTTP/1.1\r\n\r\n",
      "CONNECT evil.example:443 HTTP/1.1\r\nhost: a\r\n\r\n",
      "GET /v1/status HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
      `GET /v1/status HTTP/1.1\r\nhost: a\r\nx-large: ${"x".repeat(64 * 1024)}\r\n\r\n`,
      `GET /v1/${"x".repeat(64 * 1024)} HTTP/1.1\r\nhost: a\r\n\r\n`,
      "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: good\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nx-api-token: good\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "POST /v1/getQueue HTTP/1.1\r\nhost: a\r\nexpect: miracles\r\n\r\n",
      "\0\0\0\0\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ].map((bytes) => [JSON.stringify(bytes).slice(0, 80), bytes]),
  )("%s leaves it standing", async (_, bytes) => {
    const { port, url } = await aGateway();
    const answer = await raw(port, Buffer.from(bytes ?? "", "latin1"));
    expect(answer === "" || answer.startsWith("HTTP/1.1 ")).toBe(true);
    expect(answer).not.toContain(" 500 ");
    expect((await fetch(`${url}/status`)).status).toBe(200);
  });

  it("that aborts at any moment leaves it standing", async () => {
    const { port, url } = await aGateway();
    for (let ms = 0; ms < 20; ms += 1) {
      const asking = httpRequest({ port, method: "POST", path: "/v1/getQueue", headers: GOOD });
      asking.on("error", () => {});
      asking.write("x".repeat(100_000));
      await sleep(ms);
      asking.destroy();
    }
    expect((await fetch(`${url}/status`)).status).toBe(200);
  });

  it("that never reads its answer does not keep the server from stopping", async () => {
    const { port } = await aGateway();
    const asking = httpRequest({ port, path: "/v1/status" });
    asking.end();
    const [answer]: IncomingMessage[] = await once(asking, "response");
    answer?.pause();
    for (const server of open.splice(0)) await closeGateway(server, 500);
    asking.destroy();
  });
});
