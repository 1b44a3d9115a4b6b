/** What the function for maintenance windows is called with, and by whom: three forms of the same thing. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { inWords } from "../shared/http/issues.ts";
import { type OrgSlug, orgSlug, type QueueKey, repoKey } from "../shared/kernel/ids.ts";
import { toRfc3339 } from "../shared/kernel/time.ts";
import { scheduleMaintenance, type WindowAsked } from "../shared/queue/app/maintenance.ts";
import { windowCalled } from "../shared/queue/app/wakings.ts";
import type { WindowApp } from "../shared/queue/app/window-ports.ts";
import { directCall, directEvent, windowCall } from "../shared/schemas/maintenance.ts";

type Direct = z.output<typeof directCall>;

/** What goes wrong is logged with what it was called with, and thrown: whoever calls tries again, then gives up. */
export async function callMaintenance(app: WindowApp, sent: unknown, requestId: string | undefined): Promise<void> {
  try {
    await answer(app, sent, requestId);
  } catch (error) {
    app.log.error("a call for maintenance windows failed", { error: String(error), sent });
    throw error;
  }
}

async function answer(app: WindowApp, sent: unknown, requestId: string | undefined): Promise<void> {
  if (has(sent, "windowId")) {
    const { windowId, queue } = read(windowCall, sent);
    const key = { org: orgSlug(queue.org), repo: repoKey(queue.repo), branch: queue.branch };
    return windowCalled(app, key, windowId);
  }
  if (!has(sent, "detail")) return open(app, read(directCall, sent), requestId);
  // An event says of itself when it happened and which it is; a repeated one says the same.
  const { id, time, detail } = read(directEvent, sent);
  return open(app, { ...detail, id, time }, requestId);
}

const has = (sent: unknown, field: string): boolean =>
  typeof sent === "object" && sent !== null && Object.hasOwn(sent, field);

/** Everything that is wrong, at once: whoever wrote the rule finds it in the log and beside the dead letter. */
function read<Shape extends z.ZodType>(shape: Shape, sent: unknown): z.output<Shape> {
  const given = z.safeParse(shape, sent, { error: inWords });
  if (given.success) return given.data;
  const wrong = given.error.issues.map(({ path, message }) => `${path.join(".") || "the event"} ${message}`);
  throw new Error(`This opens no maintenance window: ${wrong.join("; ")}.`);
}

async function open(app: WindowApp, direct: Direct, requestId: string | undefined): Promise<void> {
  const org = direct.orgUrlSlug === undefined ? await onlyOrganization(app) : orgSlug(direct.orgUrlSlug);
  const key: QueueKey = { org, repo: repoKey(direct.repo), branch: direct.targetBranch };
  const { action, durationMinutes, reason, allowUrgent, time } = direct;
  const id = idOf(key, direct, requestId);
  const asked: WindowAsked = { key, action, durationMinutes, reason, allowUrgent, startsAt: time, id, by: "event" };
  const done = await scheduleMaintenance(app, asked, () => undefined);
  if (done.ok) {
    app.log.info("a maintenance window was asked for by an event", { window: id, state: done.value.state });
    // The first call may have died between the window and what follows from it.
    await app.queues.tell(key, { type: "wake" });
    return;
  }
  const issues = (done.fault.issues ?? []).map(({ path, message }) => ` ${path} ${message}.`).join("");
  throw new Error(`This opens no maintenance window: ${done.fault.message}${issues}`);
}

/** An event that names none means the only one there is. With a second one it must be told whose queue it means. */
async function onlyOrganization(app: WindowApp): Promise<OrgSlug> {
  const [org, ...others] = new Set((await app.queues.due()).map(({ key }) => key.org));
  if (org !== undefined && others.length === 0) return org;
  if (org === undefined) throw new Error("This opens no maintenance window: there is no merge queue.");
  throw new Error(
    "This opens no maintenance window: several organizations have queues here, so it must name one as orgUrlSlug.",
  );
}

/**
 * The same event is the same window, however often it comes. One that says neither which it is nor when it happened is
 * known by its invocation, which keeps its id when it is tried again.
 */
function idOf(key: QueueKey, direct: Direct, requestId: string | undefined): string {
  const { id, time, ...said } = direct;
  const which = id ?? (time === undefined ? requestId : { said, time: toRfc3339(time) });
  const text = JSON.stringify([key, which ?? crypto.randomUUID()]);
  return `event-${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
}
