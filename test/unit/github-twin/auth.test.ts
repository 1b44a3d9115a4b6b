import { generateKeyPairSync } from "node:crypto";
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { asApp, asInstallation, asToken, jwt, twin } from "./client.ts";

let github: GitHubTwin;
let clock = Date.now();

beforeAll(async () => {
  github = await twin({ now: () => clock });
  await github.addRepository("acme/app");
  await github.addRepository("acme/other");
  await github.addRepository("rival/secret");
});
afterAll(() => github.stop());

describe("an App says who it is", () => {
  const asked = async (claims: object, key?: string): Promise<number> =>
    (await asToken(github, jwt(github.app, claims, key))("GET", "/app")).status;

  test("with its own key, for at most ten minutes, from a clock that is right", async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await asked({})).toBe(200);
    expect(await asked({ exp: now + 3_600 })).toBe(401);
    expect(await asked({ exp: now - 1 })).toBe(401);
    expect(await asked({ iat: now + 3_600 })).toBe(401);
    expect(await asked({ iss: 1 })).toBe(404);
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    expect(await asked({}, privateKey)).toBe(401);
    expect((await asToken(github, "")("GET", "/app")).status).toBe(401);
  });

  test("with a key in PKCS#1, which GitHub's own client takes", async () => {
    const installationId = await github.installation("acme");
    const { appId, privateKey } = github.app;
    expect(privateKey).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/u);
    const octokit = new Octokit({
      baseUrl: github.url,
      authStrategy: createAppAuth,
      auth: { appId, privateKey, installationId },
    });
    const { data } = await octokit.request("GET /repos/{owner}/{repo}", { owner: "acme", repo: "app" });
    expect(data.full_name).toBe("acme/app");
  });
});

describe("a token of an installation", () => {
  test("is about 520 characters with dots, and ends after an hour", async () => {
    const api = await asInstallation(github);
    expect(api.token.length).toBeGreaterThan(500);
    expect(api.token).toMatch(/^ghs_[\w-]+\.[\w-]+\.[\w-]+$/u);
    expect((await api("GET", "/repos/acme/app")).status).toBe(200);
    clock += 3_600_000;
    expect(await api("GET", "/repos/acme/app")).toMatchObject({ status: 401, body: { message: "Bad credentials" } });
    clock = Date.now();
  });

  test("reaches the repositories of its own installation only, and of those the ones it was made for", async () => {
    const api = await asInstallation(github);
    expect((await api("GET", "/repos/rival/secret")).status).toBe(404);
    const narrow = await asInstallation(github, "acme", { repositories: ["other"] });
    expect((await narrow("GET", "/repos/acme/app")).status).toBe(404);
    expect((await narrow("GET", "/repos/acme/other")).status).toBe(200);
    const listed = await narrow("GET", "/installation/repositories");
    expect(listed.body.repositories.map((one: { name: string }) => one.name)).toEqual(["other"]);
  });

  test("does what it was allowed, and loses what the installation lost", async () => {
    const narrow = await asInstallation(github, "acme", { permissions: { contents: "read" } });
    expect((await narrow("GET", "/repos/acme/app/contents/README.md")).status).toBe(200);
    const refused = await narrow("POST", "/repos/acme/app/merges", { base: "main", head: "main" });
    expect(refused).toMatchObject({ status: 403, body: { message: "Resource not accessible by integration" } });
    const api = await asInstallation(github, "rival");
    github.setPermissions("rival", { metadata: "read" });
    expect((await api("GET", "/repos/rival/secret/contents/README.md")).status).toBe(403);
  });

  test("ends with the installation, and rests while that is suspended", async () => {
    await github.addRepository("brief/app");
    const api = await asInstallation(github, "brief");
    github.suspend("brief");
    expect((await api("GET", "/repos/brief/app")).status).toBe(403);
    github.unsuspend("brief");
    expect((await api("GET", "/repos/brief/app")).status).toBe(200);
    github.deleteInstallation("brief");
    expect((await api("GET", "/repos/brief/app")).status).toBe(401);
    expect((await asApp(github)("GET", "/repos/brief/app/installation")).status).toBe(404);
  });
});

test("a renamed repository keeps its id and redirects from its old name", async () => {
  const { id } = await github.addRepository("acme/old");
  const api = await asInstallation(github);
  await github.rename("acme/old", "new");
  const moved = await api("GET", "/repos/acme/old/branches/main");
  expect(moved.status).toBe(301);
  expect(moved.headers.get("location")).toBe(`${github.url}/repositories/${id}/branches/main`);
  expect((await api("GET", moved.headers.get("location") ?? "")).body.name).toBe("main");
  expect((await api("GET", `/repositories/${id}`)).body.full_name).toBe("acme/new");
});

test("the code of a confirmed manifest is good once", async () => {
  const code = github.confirmManifest({ name: "Mainline" });
  const anybody = asToken(github, "none");
  const { status, body } = await anybody("POST", `/app-manifests/${code}/conversions`);
  expect([status, body.id, body.pem]).toEqual([201, github.app.appId, github.app.privateKey]);
  expect((await anybody("POST", `/app-manifests/${code}/conversions`)).status).toBe(404);
});
