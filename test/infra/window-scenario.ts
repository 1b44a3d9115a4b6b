/** Everything that maintenance windows can meet. */
import * as z from "zod";
import { DAY_MS, later, MINUTE_MS, toRfc3339 } from "../../shared/kernel/time.ts";
import { queueOf } from "./queue-scenario.ts";
import type { Site } from "./site.ts";

const made = z.object({ windowId: z.string() });
const REPO = { host: "git.local", owner: "acme", name: "app" };
const FRIDAYS = { schedule: "0 22 ? * FRI *", timeZone: "Europe/Berlin" };
const DIRECT = { action: "drain", repo: REPO, targetBranch: "windows", durationMinutes: 5 };

const clientOf = (site: Site) => {
  const queue = queueOf(site, "windows");
  return {
    queue,
    schedules: async (more: object): Promise<string> => {
      const { body } = await queue.asks("/scheduleMaintenance", { action: "drain", durationMinutes: 30, ...more });
      return made.parse(body).windowId;
    },
    cancels: (windowId: string) => site.asks("/cancelMaintenance", { windowId }),
  };
};

/** While the organization has one queue. */
export async function firstWindow(site: Site): Promise<void> {
  const { queue, schedules, cancels } = clientOf(site);
  await queue.asks("/createQueue");
  await site.runs("maintenance-window", DIRECT);
  await cancels(await schedules({}));
}

export async function windows(site: Site): Promise<void> {
  const { schedules, cancels } = clientOf(site);
  const recurring = await schedules(FRIDAYS);
  const once = await schedules({ startsAt: toRfc3339(later(site.app.clock(), MINUTE_MS)) });
  await site.runs("sweep");
  await site.asks("/listMaintenanceWindows");
  await site.asks("/listMaintenanceWindows", { repo: REPO, targetBranch: "windows" });
  await called(site, recurring);
  await called(site, "never-made");
  await cancels(once);
  await site.runs("sweep");
  await forgotten(site, recurring);
  await goes(site);
}

const called = (site: Site, windowId: string) =>
  site.runs("maintenance-window", { windowId, queue: { org: "local", repo: REPO, branch: "windows" } });

/** Windows that were over long ago go with whatever is written of windows next. */
async function forgotten(site: Site, recurring: string): Promise<void> {
  const { schedules, cancels } = clientOf(site);
  site.passes(400 * DAY_MS);
  await schedules({});
  site.passes(400 * DAY_MS);
  await cancels(recurring);
  await schedules({});
  site.passes(400 * DAY_MS);
  await site.runs("maintenance-window", { ...DIRECT, orgUrlSlug: "local" });
}

/** Of a queue with windows: deleted by a request, and by the sweep where the request died. */
async function goes(site: Site): Promise<void> {
  for (const branch of ["leaves", "left"]) {
    const queue = queueOf(site, branch);
    await queue.asks("/createQueue");
    await queue.asks("/scheduleMaintenance", { action: "pause", durationMinutes: 30, ...FRIDAYS });
    const found = await queue.view();
    if (branch === "leaves") await queue.asks("/deleteQueue");
    else if (found !== undefined)
      await site.app.queues.update(found.record, { ...found.record, deleting: true }, undefined);
  }
  await site.runs("sweep");
}
