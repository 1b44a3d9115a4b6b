/** `npm start` and `npm run token`, as npm runs them. Each process costs half a second: the other cases are slow. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callApi, spawnStart, startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let elsewhere = "";
beforeAll(async () => {
  server = await startServer();
  elsewhere = mkdtempSync(join(tmpdir(), "mainline-elsewhere-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(elsewhere, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
const token = (...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile("npm", ["run", "--silent", "token", "--", ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });

/** Needs a token with the scope `read`; whether the answer is 200 is another test's. */
const admitted = async (secret: string): Promise<boolean> => {
  const { status } = await callApi(server.url, secret, "/flaky-tests/list-failing-tests");
  return status !== 401;
};

describe("npm start", () => {
  it("prints the admin token once, keeps it for its owner alone, and says where it listens", () => {
    const { stdout } = server.output();
    expect(stdout).toContain(server.adminToken);
    expect(stdout).toMatch(/^Mainline is ready: http:\/\/127\.0\.0\.1:\d+\/v1$/mu);
    expect(statSync(join(server.data, "admin-token")).mode & 0o777).toBe(0o600);
    expect(server.adminToken).toMatch(/^mlq_[0-9A-Za-z]{36}$/u);
  });

  it("answers without a token where none is needed, and with its own token elsewhere", async () => {
    expect((await fetch(`${server.url}/status`)).status).toBe(200);
    expect(await admitted(server.adminToken)).toBe(true);
  });

  it("keeps the secret out of the table and the log", () => {
    for (const file of ["table.db", "server.log"])
      expect(readFileSync(join(server.data, file), "latin1")).not.toContain(server.adminToken.slice(4));
  });

  it("is refused in one line on the data of a running server", async () => {
    const second = spawnStart(server.data);
    expect(await second.gone()).toBe(1);
    expect(second.said.stderr).toBe(
      `Another Mainline (process ${server.pid}) already runs on the data folder ${server.data}.\n`,
    );
  });

  it.each([[["--port", "70000"], /^--port must be a number from 0 to 65535/u]])(
    "refuses %j in one line",
    async (args, message) => {
      const failed = spawnStart(elsewhere, { args });
      expect(await failed.gone()).toBe(1);
      expect(failed.said.stderr).toMatch(message);
      expect(failed.said.stderr.trim().split("\n")).toHaveLength(1);
      expect(failed.said.stdout).toBe("");
    },
  );

  it.each(["SIGTERM"] as const)("stops cleanly on %s and keeps its data", async (signal) => {
    const data = mkdtempSync(join(tmpdir(), "mainline-restart-"));
    const first = await startServer({ data });
    expect(await first.signal(signal)).toBe(0);
    expect(existsSync(join(data, "endpoint"))).toBe(false);
    const second = await startServer({ data });
    expect(second.adminToken).toBe(first.adminToken);
    expect(second.output().stdout).not.toContain(second.adminToken);
    expect((await second.call("/flaky-tests/list-failing-tests")).status).not.toBe(401);
    await second.stop();
    rmSync(data, { recursive: true, force: true });
  });
});

describe("npm run token, while the server runs on the data", () => {
  it("makes a token that is the last line of stdout, and the server takes it", async () => {
    const made = await token("create", "--org", "acme", "--name", "ci", "--data", server.data);
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^mlq_[0-9A-Za-z]{36}\n$/u);
    expect(made.stderr).toContain("scopes read,submit");
    expect(await admitted(made.stdout.trim())).toBe(true);
  });
});

describe("npm run token, while no server runs", () => {
  it.each([[["revoke", "--org", "acme"], 2, "say which token: either --name or --id"]])(
    "refuses %j",
    async (args, code, message) => {
      const refused = await token(...args);
      expect(refused.code).toBe(code);
      expect(refused.stderr).toContain(message);
      expect(refused.stdout).toBe("");
    },
  );
});
