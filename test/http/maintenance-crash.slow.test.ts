/** The service is killed between a window and what follows from it, and started again. */
import { rmSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { maintenanceWindow, maintenanceWindowList } from "../../shared/schemas/maintenance.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder, aRepository, config } from "../support/git-repository.ts";
import { callApi, startServer, type TestServer } from "../support/server.ts";

let server: TestServer | undefined;
let folders: readonly string[] = [];
afterEach(async () => {
  await server?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const shownState = z.looseObject({ state: z.string() });

/** It ended itself, and nobody has to. */
async function isGone({ pid }: TestServer): Promise<void> {
  server = undefined;
  const isDead = (): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  await eventually(isDead, Boolean, { what: "the end of the server" });
}

async function aSite() {
  const [folder, data] = [aFolder(), aFolder()];
  folders = [folder, data];
  aRepository(folder, "acme/app").commit("main", { files: config({ unit: "true" }) });
  const at = { repo: { host: "git.local", owner: "acme", name: "app" }, targetBranch: "main" };
  const starts = async (crashAt?: string): Promise<TestServer> => {
    const { MAINLINE_CRASH_AT: _, ...env } = process.env;
    const withPoint = crashAt === undefined ? env : { ...env, MAINLINE_CRASH_AT: crashAt };
    server = await startServer({ data, args: ["--repositories", folder], env: withPoint });
    return server;
  };
  return { at, starts };
}

describe("killed", () => {
  it("between a window and its schedules: the window opens, and the same request again is the same window", async () => {
    const { at, starts } = await aSite();
    const first = await starts("window:after-write:1");
    await first.call("/createQueue", at);
    const headers = { "content-type": "application/json", "x-api-token": first.adminToken, "idempotency-key": "k" };
    const asked = { ...at, action: "pause", durationMinutes: 60, startsAt: new Date(Date.now() + 6_000).toISOString() };
    const again = (url: string) => callApi(url, "", "/scheduleMaintenance", asked, { headers });
    await expect(again(first.url)).rejects.toThrow("fetch failed");
    await isGone(first);

    const second = await starts();
    const answer = maintenanceWindow.parse((await again(second.url)).body);
    const listed = maintenanceWindowList.parse((await second.call("/listMaintenanceWindows")).body);
    expect(listed.windows.map(({ windowId }) => windowId)).toEqual([answer.windowId]);
    const state = async () => shownState.parse((await second.call("/getQueue", at)).body).state;
    await eventually(state, (is) => is === "PAUSED");
  });

  it("between a schedule and the note that it is made: it is made again, and the window is open once", async () => {
    const { at, starts } = await aSite();
    const first = await starts("waking:made:1");
    await first.call("/createQueue", at);
    const asked = {
      ...at,
      action: "drain",
      durationMinutes: 60,
      startsAt: new Date(Date.now() + 14_000).toISOString(),
    };
    expect((await first.call("/scheduleMaintenance", asked)).status).toBe(200);
    await isGone(first);

    const second = await starts();
    const state = async () => shownState.parse((await second.call("/getQueue", at)).body).state;
    await eventually(state, (is) => is === "DRAINING");
    const listed = maintenanceWindowList.parse((await second.call("/listMaintenanceWindows")).body);
    expect(listed.windows).toHaveLength(1);
  });
});
