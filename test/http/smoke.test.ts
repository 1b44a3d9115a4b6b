/** `npm run smoke` against a real server, and against one that is broken on purpose. */
import { execFile } from "node:child_process";
import { createServer, request, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callApi, startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let readToken = "";
beforeAll(async () => {
  server = await startServer();
  const args = ["create", "--org", "local", "--name", "reads", "--scopes", "read", "--data", server.data];
  readToken = (await run("infra/admin/token.ts", args)).stdout.trim().split("\n").at(-1) ?? "";
});
afterAll(() => server.stop());

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
const run = (script: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });

const smoke = (url: string, ...more: readonly string[]): Promise<Ran> =>
  run("infra/smoke.ts", ["--url", url, "--token", server.adminToken, ...more]);

const linesOf = (ran: Ran, verdict: string): readonly string[] =>
  ran.stdout.split("\n").filter((line) => line.startsWith(`${verdict}  `));

const queues = async (): Promise<unknown> => (await callApi(server.url, server.adminToken, "/listQueues")).body;

describe("a server that works", () => {
  it("passes all that applies to it, says what it makes, and is left without a queue", async () => {
    const ran = await smoke(server.url, "--read-token", readToken);
    expect(linesOf(ran, "fail")).toEqual([]);
    expect(linesOf(ran, "note")).toEqual([]);
    // No gateway of anybody's stands here, and no webhooks come.
    expect(linesOf(ran, "skip").length).toBeLessThanOrEqual(1);
    expect(linesOf(ran, "pass").length).toBeGreaterThan(30);
    expect(ran.stdout).toMatch(/makes a queue for smoke\.invalid\/mainline-smoke\/scratch-[0-9a-f]{8}/u);
    expect(ran.stdout).toContain("Nothing is broken.");
    expect(ran.code).toBe(0);
    expect(await queues()).toEqual({ queues: [] });
  });
});

/** Stands before the server and changes some of its answers, or gives its own. */
async function behind(breaking: Breaking): Promise<{ readonly url: string; readonly close: () => void }> {
  const proxy: Server = createServer((asked, answer) => {
    const own = breaking.answers?.(asked.url ?? "");
    if (own !== undefined) {
      asked.resume();
      answer.writeHead(own, { "content-type": "application/json" }).end('{"message":"broken on purpose"}');
      return;
    }
    const target = new URL(server.url);
    const to = { hostname: target.hostname, port: target.port, path: asked.url, method: asked.method };
    const passed = request({ ...to, agent: false, headers: asked.headers }, (given) => {
      const { [breaking.drops ?? ""]: _dropped, ...headers } = given.headers;
      answer.writeHead(given.statusCode ?? 500, headers);
      given.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  const address = proxy.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => proxy.close() };
}

type Breaking = {
  readonly drops?: string;
  readonly answers?: (path: string) => number | undefined;
};

describe("a server that is broken", () => {
  it("fails exactly where it is, and its scratch queue is deleted all the same", async () => {
    const answers = (path: string) => (path.includes("//") ? 404 : path.endsWith("/upload") ? 500 : undefined);
    const proxy = await behind({ drops: "idempotency-replayed", answers });
    const ran = await smoke(proxy.url);
    proxy.close();
    expect(linesOf(ran, "fail")).toEqual([
      "fail  the same Idempotency-Key and body: the first answer again: 200 without Idempotency-Replayed: true",
      'fail  a repeated slash: 404 {"message":"broken on purpose"}; expected 308 to /v1/getQueue',
      'fail  targets through the side door: a form, then setImpactedTargets with its uploadId: no form was granted: 500 {"message":"broken on purpose"}',
    ]);
    expect(ran.stdout).toContain("3 of these are broken.");
    expect(ran.code).toBe(1);
    expect(linesOf(ran, "pass").at(-1)).toBe("pass  deleteQueue: 200");
    expect(await queues()).toEqual({ queues: [] });
  });

  it("with a token that opens nothing makes nothing, and says so", async () => {
    const ran = await run("infra/smoke.ts", ["--url", server.url, "--token", "mlq_wrong"]);
    expect(linesOf(ran, "fail").map((line) => line.split(":")[0])).toContain("fail  the token given");
    expect(linesOf(ran, "pass").join("\n")).not.toContain("createQueue");
    expect(ran.code).toBe(1);
  });

  it("that does not answer at all fails in lines, not in a stack", async () => {
    const ran = await smoke("http://127.0.0.1:9/v1");
    expect(linesOf(ran, "fail")[0]).toMatch(/^fail {2}GET \/status without a token: no answer: /u);
    expect([ran.code, ran.stderr]).toEqual([1, ""]);
  });

  it.each([
    [[], /^--url is required; --token is required\n/u],
    [["--url", "ftp://x/v1", "--token", "t"], /^--url must be an address/u],
    [["--url", "https://example.org", "--token", "t"], /^--url must end in \/v1/u],
    [["--frob"], /^Unknown option '--frob'/u],
  ])("arguments %j are refused, with the usage", async (args, message) => {
    const ran = await run("infra/smoke.ts", args);
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).toContain("usage: npm run smoke");
    expect(ran.code).toBe(2);
  });
});
