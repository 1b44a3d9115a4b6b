/** `npm run smoke` against a real server, and against one that is broken on purpose. */
import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aService, type Service } from "../support/service.ts";

let service: Service;
let readToken = "";
beforeAll(async () => {
  service = await aService();
  readToken = await service.token("create", "--org", "local", "--name", "reads", "--scopes", "read");
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

describe("a server that works", () => {
  it("passes all that applies to it, says what it makes, and is left without a queue", async () => {
    const ran = await smoke(service.server().url, "--read-token", readToken);
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

describe("a server that is broken", () => {
  it("that does not answer at all fails in lines, not in a stack", async () => {
    const ran = await smoke("http://127.0.0.1:9/v1");
    expect(linesOf(ran, "fail")[0]).toMatch(/^fail {2}GET \/status without a token: no answer: /u);
    expect([ran.code, ran.stderr]).toEqual([1, ""]);
  });

  it.each([[[], /^--url is required; --token is required\n/u]])(
    "arguments %j are refused, with the usage",
    async (args, message) => {
      const ran = await run("infra/smoke.ts", args);
      expect(ran.stderr).toMatch(message);
      expect(ran.stderr).toContain("usage: npm run smoke");
      expect(ran.code).toBe(2);
    },
  );
});
