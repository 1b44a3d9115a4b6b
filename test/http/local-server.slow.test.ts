/** `npm start` and `npm run token`, as npm runs them: the cases that `local-server.test.ts` leaves out. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
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
  it.each([
    [["--repositories", "/nowhere"], /^--repositories "\/nowhere" is no folder: make it first/u],
    [["--host", "a b"], /^--host must be a host name/u],
    [["--frobnicate"], /^Unknown option '--frobnicate'/u],
    [["extra"], /^Unexpected argument 'extra'/u],
  ])("refuses %j in one line", async (args, message) => {
    const failed = spawnStart(elsewhere, { args });
    expect(await failed.gone()).toBe(1);
    expect(failed.said.stderr).toMatch(message);
    expect(failed.said.stderr.trim().split("\n")).toHaveLength(1);
    expect(failed.said.stdout).toBe("");
  });

  it("refuses a port that is in use in one line, and leaves its data free", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, "127.0.0.1", resolve);
    });
    const address = taken.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const failed = spawnStart(elsewhere, { args: ["--port", String(port)] });
    expect(await failed.gone()).toBe(1);
    taken.close();
    expect(failed.said.stderr).toContain(`Port ${port} is in use`);
    expect(existsSync(join(elsewhere, "endpoint"))).toBe(false);
    expect(existsSync(join(elsewhere, "lock"))).toBe(false);
  });

  it("refuses a data folder that is a file in one line", async () => {
    const file = join(elsewhere, "file");
    writeFileSync(file, "");
    const failed = spawnStart(file);
    expect(await failed.gone()).toBe(1);
    expect(failed.said.stderr).toMatch(/^Cannot use the data folder/u);
  });

  it.each(["SIGINT"] as const)("stops cleanly on %s and keeps its data", async (signal) => {
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

  it("starts again at once after kill -9, with everything that was acknowledged", async () => {
    const data = mkdtempSync(join(tmpdir(), "mainline-crash-"));
    const first = await startServer({ data });
    const made = await token("create", "--org", "acme", "--data", data);
    await first.crash();
    const second = await startServer({ data });
    const { status } = await callApi(second.url, made.stdout.trim(), "/flaky-tests/list-failing-tests");
    expect(status).not.toBe(401);
    await second.stop();
    rmSync(data, { recursive: true, force: true });
  });
});

describe("npm run token, while the server runs on the data", () => {
  it("lists tokens without their secrets or hashes", async () => {
    const { stdout } = await token("create", "--org", "listed", "--data", server.data);
    const listed = await token("list", "--org", "listed", "--data", server.data);
    expect(listed.stdout.trim().split("\n")).toHaveLength(1);
    expect(listed.stdout).toContain("read,submit");
    expect(listed.stdout).not.toContain(stdout.trim());
    expect(listed.stdout).not.toMatch(/[0-9a-f]{64}/u);
  });

  it("rotates: the new secret works at once, the old one ends within the authorizer's cache", async () => {
    const old = (await token("create", "--org", "turn", "--name", "ci", "--data", server.data)).stdout.trim();
    const rotated = await token("rotate", "--org", "turn", "--name", "ci", "--data", server.data);
    expect(rotated.stdout).toMatch(/^mlq_[0-9A-Za-z]{36}\n$/u);
    expect(await admitted(rotated.stdout.trim())).toBe(true);
    expect(await admitted(old)).toBe(false);
  });

  it("revokes", async () => {
    const { stdout } = await token("create", "--org", "gone", "--name", "ci", "--data", server.data);
    expect((await token("revoke", "--org", "gone", "--name", "ci", "--data", server.data)).code).toBe(0);
    expect(await admitted(stdout.trim())).toBe(false);
  });
});

describe("npm run token, while no server runs", () => {
  it("makes the data and the organization, and a later server takes the token", async () => {
    const data = join(elsewhere, "new");
    const made = await token("create", "--org", "acme", "--enum-case", "lower", "--scopes", "read", "--data", data);
    expect(made.code).toBe(0);
    const later = await startServer({ data });
    const { status } = await callApi(later.url, made.stdout.trim(), "/flaky-tests/list-failing-tests");
    expect(status).not.toBe(401);
    await later.stop();
  });

  it.each([
    [["list", "--org", "acme", "--data", "/nowhere/data"], 1, "There is no data folder"],
    [["frob"], 2, "the command must be create, list, revoke or rotate"],
    [["create"], 2, "--org is required"],
    [["create", "--org", "Not A Slug"], 2, "--org must be"],
    [["create", "--org", "acme", "--scopes", "read,write"], 2, "--scopes must be some of read,submit,admin"],
    [["create", "--org", "acme", "--expires", "2020-01-01"], 2, "--expires must be in the future"],
    [["create", "--org", "acme", "--expires", "2999-02-31"], 2, "--expires must be a date"],
    [["create", "--org", "acme", "--enum-case", "camel"], 2, "--enum-case must be upper or lower"],
    [["rotate", "--org", "acme", "--name", "a", "--id", "b"], 2, "say which token: either --name or --id"],
  ])("refuses %j", async (args, code, message) => {
    const refused = await token(...args);
    expect(refused.code).toBe(code);
    expect(refused.stderr).toContain(message);
    expect(refused.stdout).toBe("");
  });
});
