/** `npm run smoke` against a server that is broken on purpose. */
import { execFile } from "node:child_process";
import { createServer, request, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aService, type Service } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
const run = (script: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });

const smoke = (url: string, ...more: readonly string[]): Promise<Ran> =>
  run("infra/smoke.ts", ["--url", url, "--token", service.server().adminToken, ...more]);

const linesOf = (ran: Ran, verdict: string): readonly string[] =>
  ran.stdout.split("\n").filter((line) => line.startsWith(`${verdict}  `));

const queues = async (): Promise<unknown> => (await service.asks("/listQueues")).body;

/** Stands before the server and changes some of its answers, or gives its own. */
async function behind(breaking: Breaking): Promise<{ readonly url: string; readonly close: () => void }> {
  const proxy: Server = createServer((asked, answer) => {
    const own = breaking.answers?.(asked.url ?? "");
    if (own !== undefined) {
      asked.resume();
      answer.writeHead(own, { "content-type": "application/json" }).end('{"message":"broken on purpose"}');
      return;
    }
    const target = new URL(service.server().url);
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
    const ran = await run("infra/smoke.ts", ["--url", service.server().url, "--token", "mlq_wrong"]);
    expect(linesOf(ran, "fail").map((line) => line.split(":")[0])).toContain("fail  the token given");
    expect(linesOf(ran, "pass").join("\n")).not.toContain("createQueue");
    expect(ran.code).toBe(1);
  });

  it.each([
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
