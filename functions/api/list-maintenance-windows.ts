import { maintenanceRoutes } from "../../shared/api/maintenance-routes.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { ok } from "../../shared/kernel/result.ts";
import { listWindows } from "../../shared/queue/app/maintenance.ts";
import { maintenanceSide } from "../maintenance-side.ts";
import { maintenanceWindow } from "../maintenance.ts";
import { serve } from "../serve.ts";

export const handler = serve(
  maintenanceRoutes["list-maintenance-windows"],
  maintenanceSide,
  async ({ input, principal }, app) => {
    const asked = { repo: input.repo && repoKey(input.repo), branch: input.targetBranch };
    const found = await listWindows(app, principal.org, asked);
    return found.ok ? ok({ windows: found.value.map(maintenanceWindow) }) : found;
  },
);
