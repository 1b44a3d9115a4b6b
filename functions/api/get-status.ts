import { otherRoutes } from "../../shared/api/other-routes.ts";
import { API_VERSION } from "../../shared/api/version.ts";
import { ok } from "../../shared/kernel/result.ts";
import { toRfc3339 } from "../../shared/kernel/time.ts";
import { serveOpen } from "../serve-open.ts";

export const handler = serveOpen<"get-status">(otherRoutes["get-status"], async ({ clock }) =>
  ok({ status: "OK", version: API_VERSION, time: toRfc3339(clock()) }),
);
