import type { ReplyOf } from "../shared/api/routes.ts";
import { toRfc3339 } from "../shared/kernel/time.ts";
import type { WindowView } from "../shared/queue/app/maintenance.ts";

/** A maintenance window as the wire shows it. */
export function maintenanceWindow(view: WindowView): ReplyOf<"schedule-maintenance"> {
  const { window, repo, openings } = view;
  const { times } = window;
  const isOnce = times.kind === "ONCE";
  return {
    windowId: window.id,
    repo: { host: repo.host, owner: repo.owner, name: repo.name },
    targetBranch: view.branch,
    action: window.action,
    state: view.state,
    startsAt: isOnce ? toRfc3339(times.startsAt) : null,
    schedule: isOnce ? null : times.cron,
    timeZone: isOnce ? null : times.timeZone,
    durationMinutes: window.durationMinutes,
    reason: window.reason,
    allowUrgent: window.allowUrgent,
    occurrences: openings.map((one) => ({ startsAt: toRfc3339(one.startsAt), endsAt: toRfc3339(one.endsAt) })),
    createdAt: toRfc3339(window.createdAt),
    createdBy: window.createdBy,
  };
}
