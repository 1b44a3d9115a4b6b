import { maintenanceRoutes } from "../../shared/api/maintenance-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { scheduleMaintenance } from "../../shared/queue/app/maintenance.ts";
import { maintenanceSide } from "../maintenance-side.ts";
import { maintenanceWindow } from "../maintenance.ts";
import { keyOf, recordedAs } from "../present.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  maintenanceRoutes["schedule-maintenance"],
  maintenanceSide,
  async ({ input, principal, receipt }, app) => {
    const { repo: _r, targetBranch: _t, schedule: cron, timeZone = "UTC", ...window } = input;
    const schedule = cron === undefined ? undefined : { cron, timeZone };
    const asked = { ...window, schedule, key: keyOf(principal.org, input), by: principal.tokenName };
    const done = await scheduleMaintenance(app, asked, recordedAs(receipt, maintenanceWindow));
    return done.ok ? ok(maintenanceWindow(done.value)) : done;
  },
);
