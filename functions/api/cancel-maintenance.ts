import { maintenanceRoutes } from "../../shared/api/maintenance-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { cancelMaintenance } from "../../shared/queue/app/maintenance.ts";
import { maintenanceSide } from "../maintenance-side.ts";
import { maintenanceWindow } from "../maintenance.ts";
import { recordedAs } from "../present.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  maintenanceRoutes["cancel-maintenance"],
  maintenanceSide,
  async ({ input, principal, receipt }, app) => {
    const asked = { org: principal.org, id: input.windowId, by: principal.tokenName };
    const done = await cancelMaintenance(app, asked, recordedAs(receipt, maintenanceWindow));
    return done.ok ? ok(maintenanceWindow(done.value)) : done;
  },
);
