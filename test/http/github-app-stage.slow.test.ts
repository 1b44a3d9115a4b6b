/** `npm run github-app -- … --stage`: against a table and a secret under the names that a deployment's have. */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { gitHubAppOf } from "../../shared/code-host/github/app-secret.ts";
import { openTable, type Table } from "../../shared/table/client.ts";
import { installationStore } from "../../shared/table/installations.ts";
import { ensureTable } from "../../shared/table/table-definition.ts";
import { freePort } from "../../infra/local/ports.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder } from "../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../support/github/twin.ts";
import { type Secrets, startSecrets } from "../support/secrets.ts";
import { startTable, type TestTable } from "../support/table.ts";

const SECRET = "mainline-dev-github-app";
const folder = aFolder();
let tables: TestTable;
let deployed: Table;
let secrets: Secrets;
let twin: GitHubTwin;
beforeAll(async () => {
  tables = await startTable();
  deployed = openTable({ name: "mainline-dev", endpoint: tables.endpoint });
  [secrets, twin] = await Promise.all([startSecrets(), startGitHubTwin({ folder }), ensureTable(deployed)]);
});
beforeEach(() => {
  secrets.values.clear();
  secrets.values.set(SECRET, undefined);
});
afterAll(async () => {
  deployed.client.destroy();
  secrets.stop();
  await Promise.all([tables.stop(), twin.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Away from the project's own `.data`, and from anybody's account. */
function command(...args: readonly string[]) {
  const env = {
    PATH: process.env["PATH"],
    HOME: "/nowhere",
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_EC2_METADATA_DISABLED: "true",
    DYNAMODB_ENDPOINT: tables.endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
  };
  const script = join(process.cwd(), "infra/admin/github-app.ts");
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return { child, said: () => said, code: ended(child) };
}

async function paged(...args: readonly string[]) {
  const port = await freePort();
  return { ...command(...args, "--port", String(port)), page: `http://127.0.0.1:${port}` };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("close", resolve);
  });

const found = async (running: ReturnType<typeof command>, pattern: RegExp): Promise<string> => {
  const read = async () => pattern.exec(running.said())?.[1];
  return (await eventually(read, (one) => one !== undefined || running.child.exitCode !== null)) ?? "";
};

const put = (more: object = {}) =>
  secrets.values.set(SECRET, JSON.stringify({ ...twin.app, api: twin.url, web: twin.url, ...more }));
const kept = () => gitHubAppOf(secrets.values.get(SECRET) ?? "");

describe("the GitHub App of a stage", () => {
  test("is made into its secret, and nothing of it is on this machine or on the screen", async () => {
    const running = await paged("setup", "--stage", "dev", "--web", twin.url, "--url", "https://mainline.example.com");
    await found(running, /(http:\/\/127\S+)/u);
    const html = await (await fetch(running.page)).text();
    const state = /state=([^"&]+)/u.exec(html)?.[1] ?? "";
    await fetch(`${running.page}/created?code=${twin.confirmManifest({})}&state=${state}`);
    expect([await running.code, running.said()]).toEqual([0, expect.stringContaining(`the secret ${SECRET} in local`)]);
    expect(running.said()).toContain("link --org <slug> --stage dev");
    expect(kept()).toMatchObject({ appId: twin.app.appId, privateKey: twin.app.privateKey, web: twin.url });
    expect(existsSync(join(folder, ".data"))).toBe(false);
    for (const hidden of [twin.app.privateKey, twin.app.webhookSecret]) expect(running.said()).not.toContain(hidden);
  });

  test("is linked in the stage's table", async () => {
    put();
    const id = await twin.installation("acme");
    const running = await paged("link", "--stage", "dev", "--org", "main");
    const state = await found(running, /[?&]state=(\S+)/u);
    await fetch(`${running.page}/installed?installation_id=${id}&state=${state}`);
    expect([await running.code, running.said()]).toEqual([
      0,
      expect.stringContaining("is linked to organization main"),
    ]);
    expect(await installationStore(deployed).byId("github.com", id)).toMatchObject({ org: "main", account: "acme" });
  });

  test("that is there is not made a second time, and what is no App is not written over", async () => {
    put();
    const again = await paged("setup", "--stage", "dev");
    expect([await again.code, again.said()]).toEqual([1, expect.stringContaining("There is an App already")]);
    secrets.values.set(SECRET, "something of somebody's");
    const foreign = await paged("setup", "--stage", "dev");
    expect([await foreign.code, foreign.said()]).toEqual([1, expect.stringContaining("is no GitHub App")]);
    expect(secrets.requests.filter((one) => one.startsWith("Put")).length).toBe(1);
  });

  test("gets another key, which GitHub is asked about first", async () => {
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    put({ privateKey });
    const [good, bad, none] = ["good.pem", "bad.pem", "none.pem"].map((name) => join(folder, name));
    writeFileSync(good ?? "", twin.app.privateKey);
    writeFileSync(bad ?? "", privateKey);
    writeFileSync(none ?? "", "no key");
    const rotates = async (key: string | undefined) => {
      const { code, said } = command("rotate", "--stage", "dev", "--key", key ?? "");
      return [await code, said()];
    };
    expect(await rotates(bad)).toEqual([1, expect.stringContaining("GitHub does not take this key")]);
    expect(await rotates(none)).toEqual([1, expect.stringContaining("holds no private key")]);
    expect(kept()?.privateKey).toBe(privateKey);
    expect(await rotates(good)).toEqual([0, expect.stringContaining("holds the new key of mainline-twin")]);
    expect(kept()).toMatchObject({ privateKey: twin.app.privateKey, webhookSecret: twin.app.webhookSecret });
  });

  test("needs a deployment: what is missing is told in one line", async () => {
    secrets.values.clear();
    const running = await paged("setup", "--stage", "dev");
    expect(await running.code).toBe(1);
    expect(running.said().trim()).toBe(`There is no secret ${SECRET} in local: npm run deploy -- --stage dev.`);
    const both = command("link", "--stage", "dev", "--data", "x", "--org", "main");
    expect([await both.code, both.said()]).toEqual([2, expect.stringContaining("say one of them")]);
  });
});
