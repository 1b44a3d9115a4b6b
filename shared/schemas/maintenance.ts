import * as z from "zod";
import { readCron } from "../maintenance/cron.ts";
import { isTimeZone } from "../maintenance/time-zone.ts";
import { targetBranch } from "./branch.ts";
import { queueRef, repo, repoPath, repoView } from "./repo.ts";
import { across, documentedAs, enumIn, int, text, timeIn, timeOut, wireEnum } from "./wire.ts";

export const WINDOW_ACTIONS = ["DRAIN", "PAUSE"] as const;
export const WINDOW_STATES = ["SCHEDULED", "OPEN", "ENDED", "CANCELLED"] as const;

/** A month: what lasts longer is a state of the queue. */
const DURATION_MINUTES_MAX = 31 * 24 * 60;

const says = {
  startsAt: "Opens once, then. Without it and without schedule, it opens now.",
  schedule:
    "A cron expression of EventBridge: minutes hours day-of-month month day-of-week year, SUN = 1; with or without cron(…) around it.",
  timeZone:
    "By whose clocks the schedule goes, such as Europe/Berlin; UTC if it is not sent. A local time that does not exist is skipped, one that comes twice counts once.",
  allowUrgent: "Urgent pull requests pass through the window as if it were not there.",
} as const;

/** Every field that is wrong is an issue of its own. */
function cronRead(value: unknown, context: z.core.$RefinementCtx): string {
  const read = typeof value === "string" ? readCron(value) : { ok: false as const, problems: ["must be a string"] };
  if (read.ok) return read.cron;
  for (const message of read.problems) context.addIssue({ code: "custom", message, input: value });
  return z.NEVER;
}

const cron = documentedAs(z.unknown().transform(cronRead), { type: "string", description: says.schedule });
const timeZone = z.string().refine(isTimeZone, "must be a time zone of the IANA database, such as Europe/Berlin");

const common = {
  action: enumIn(WINDOW_ACTIONS),
  durationMinutes: int(1, DURATION_MINUTES_MAX),
  reason: text(0, 1000).optional(),
  allowUrgent: z.boolean().optional().meta({ description: says.allowUrgent }),
};

export const scheduleMaintenance = queueRef
  .extend({
    ...common,
    startsAt: timeIn.optional().meta({ description: says.startsAt }),
    schedule: cron.optional(),
    timeZone: timeZone.optional().meta({ description: says.timeZone }),
  })
  .refine(({ startsAt, schedule }) => startsAt === undefined || schedule === undefined, {
    ...across(() => true),
    path: ["schedule"],
    message: "cannot be sent together with startsAt: a window opens once or by a schedule",
  })
  .refine(({ schedule, timeZone: zone }) => schedule !== undefined || zone === undefined, {
    ...across(() => true),
    path: ["timeZone"],
    message: "belongs to a schedule; startsAt has its offset with it",
  });

export const listMaintenanceWindows = z
  .object({ repo: repo.optional(), targetBranch: targetBranch.optional() })
  .refine((asked) => asked.repo !== undefined || asked.targetBranch === undefined, {
    ...across(() => true),
    path: ["repo"],
    message: "is needed with targetBranch",
  });

export const cancelMaintenance = z.object({ windowId: text(1, 64) });

export const maintenanceWindow = z
  .object({
    windowId: z.string(),
    repo: repoView,
    targetBranch: z.string(),
    action: wireEnum(WINDOW_ACTIONS),
    state: wireEnum(WINDOW_STATES),
    startsAt: timeOut.nullable().meta({ description: "When it opens, of a window that opens once; else null." }),
    schedule: z.string().nullable().meta({ description: "Of a window that opens again and again; else null." }),
    timeZone: z.string().nullable(),
    durationMinutes: z.int(),
    reason: z.string().nullable(),
    allowUrgent: z.boolean(),
    occurrences: z
      .array(z.object({ startsAt: timeOut, endsAt: timeOut }))
      .meta({ description: "The times at which it is open that are not over: at most the next ten." }),
    createdAt: timeOut,
    createdBy: z.string(),
  })
  .meta({ id: "MaintenanceWindow" });

export const maintenanceWindowList = z.object({ windows: z.array(maintenanceWindow) });

/** What the function for maintenance windows is called with by the schedules that the service itself makes. */
export const windowCall = z.object({
  windowId: text(1, 64),
  queue: z.object({ org: z.string(), repo, branch: targetBranch }),
});

const DEFAULT_HOST = "github.com";
const repoOrPath = z.union([repo, repoPath.transform((path) => ({ host: DEFAULT_HOST, ...path }))], {
  error: "must be owner/name on github.com, or host, owner and name",
});

/** What anybody's rule or calendar calls it with: a window that opens at `time`, which for an event is its own. */
export const directCall = z.object({
  ...common,
  repo: repoOrPath,
  targetBranch,
  orgUrlSlug: text(1, 39).optional(),
  /** The same again is the same window. */
  id: text(1, 500).optional(),
  time: timeIn.optional(),
});

/** An event of EventBridge, around the same. */
export const directEvent = z.object({ id: text(1, 500), time: timeIn, detail: directCall });

/** A window that the operator of a deployment declares: it opens without anybody calling the API. */
export const declaredWindow = z.strictObject({
  org: text(1, 39),
  repo: z.strictObject(repo.shape),
  targetBranch,
  action: z.enum(["drain", "pause"]).default("drain"),
  schedule: cron,
  timeZone: timeZone.default("UTC"),
  durationMinutes: common.durationMinutes,
  reason: common.reason,
  allowUrgent: z.boolean().default(false),
});
export type DeclaredWindow = z.output<typeof declaredWindow>;

/**
 * The schedule that opens it, for EventBridge Scheduler, which puts the time it was due at into each call: one that is
 * repeated says the same, and is the same window.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
 */
export const declaredSchedule = ({ org, schedule, timeZone: zone, ...window }: DeclaredWindow) => ({
  expression: `cron(${schedule})`,
  timeZone: zone,
  input: JSON.stringify({ orgUrlSlug: org, ...window, time: "<aws.scheduler.scheduled-time>" }),
});
