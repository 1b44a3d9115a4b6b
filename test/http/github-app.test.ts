import { spawn } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { PERMISSIONS } from "../../infra/admin/github-manifest.ts";
import { gitHubAppPath, readGitHubApp } from "../../infra/local/github-app.ts";
import { freePort } from "../../infra/local/ports.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder } from "../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../support/github/twin.ts";

let twin: GitHubTwin;
const folder = aFolder();
beforeAll(async () => {
  twin = await startGitHubTwin({ folder });
});
afterAll(async () => {
  await twin.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function setup(data: string, ...more: readonly string[]) {
  const port = await freePort();
  const args = ["setup", "--data", data, "--port", String(port), "--web", twin.url, ...more];
  const child = spawn(process.execPath, ["infra/admin/github-app.ts", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  const page = `http://127.0.0.1:${port}`;
  const ready = () =>
    eventually(
      async () => said,
      (text) => text.includes(page) || child.exitCode !== null,
      { what: "the page" },
    );
  return { page, code, said: () => said, ready };
}

const manifest = z.looseObject({
  default_permissions: z.record(z.string(), z.string()),
  hook_attributes: z.object({ url: z.string(), active: z.boolean() }),
});

/** What a browser would send to GitHub from the page's one button. */
async function pressed(page: string): Promise<{ manifest: z.infer<typeof manifest>; state: string; action: string }> {
  const html = await (await fetch(page)).text();
  const action = /action="([^"]*)"/u.exec(html)?.[1] ?? "";
  const value = (/value="([^"]*)"/u.exec(html)?.[1] ?? "").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  return {
    manifest: manifest.parse(JSON.parse(value)),
    state: new URL(action).searchParams.get("state") ?? "",
    action,
  };
}

describe("npm run github-app -- setup", () => {
  test("makes the App that its manifest describes, and keeps its secrets where only their owner reads", async () => {
    const data = aFolder();
    const running = await setup(data, "--url", "https://mainline.example.com", "--owner", "acme");
    await running.ready();
    const form = await pressed(running.page);
    expect(form.action).toMatch(new RegExp(`^${twin.url}/organizations/acme/settings/apps/new\\?state=`, "u"));
    expect(form.manifest.default_permissions).toEqual(PERMISSIONS);
    expect(form.manifest.hook_attributes).toEqual({
      url: "https://mainline.example.com/v1/webhooks/github",
      active: true,
    });
    const code = twin.confirmManifest(form.manifest);
    expect((await fetch(`${running.page}/created?code=${code}&state=another`)).status).toBe(400);
    expect(existsSync(gitHubAppPath(data))).toBe(false);
    expect((await fetch(`${running.page}/created?code=${code}&state=${form.state}`)).status).toBe(200);
    expect(await running.code).toBe(0);
    expect(statSync(gitHubAppPath(data)).mode & 0o777).toBe(0o600);
    const app = readGitHubApp(data);
    expect(app).toMatchObject({ api: `${twin.url}/api/v3`, web: twin.url });
    for (const secret of [app?.privateKey, app?.webhookSecret]) {
      expect(secret?.length).toBeGreaterThan(10);
      expect(running.said()).not.toContain(secret);
    }
    const again = await setup(data);
    expect(await again.code).toBe(1);
    expect(again.said()).toContain("There is an App already");
    rmSync(data, { recursive: true });
  });
});
