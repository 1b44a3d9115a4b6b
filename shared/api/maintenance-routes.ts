import * as maintenance from "../schemas/maintenance.ts";
import { route } from "./route.ts";

const reads = {
  method: "POST",
  tag: "Queues",
  auth: "token",
  scope: "read",
  writes: false,
  tableAccess: "read",
  media: "application/json",
} as const;
const administers = { ...reads, scope: "admin", writes: true, tableAccess: "write" } as const;

export const maintenanceRoutes = {
  "schedule-maintenance": route("schedule-maintenance", {
    ...administers,
    path: "/scheduleMaintenance",
    summary: "Schedule a maintenance window",
    description:
      "While it is open the queue drains or pauses, whatever its own state is; when it is over the queue goes on by itself. Once from `startsAt` on, or again and again by `schedule`, for `durationMinutes`.",
    request: maintenance.scheduleMaintenance,
    reply: maintenance.maintenanceWindow,
    errors: ["QUEUE_NOT_FOUND", "TOO_MANY_MAINTENANCE_WINDOWS"],
  }),
  "list-maintenance-windows": route("list-maintenance-windows", {
    ...reads,
    path: "/listMaintenanceWindows",
    summary: "List maintenance windows that are not over",
    description: "The organization's; with `repo`, and with `targetBranch` beside it, those of its queues.",
    request: maintenance.listMaintenanceWindows,
    reply: maintenance.maintenanceWindowList,
    errors: ["QUEUE_NOT_FOUND"],
  }),
  "cancel-maintenance": route("cancel-maintenance", {
    ...administers,
    path: "/cancelMaintenance",
    summary: "Cancel a maintenance window",
    description: "It ends at once and opens no more. One that is over stays as it is.",
    request: maintenance.cancelMaintenance,
    reply: maintenance.maintenanceWindow,
    errors: ["MAINTENANCE_WINDOW_NOT_FOUND"],
  }),
} as const;
