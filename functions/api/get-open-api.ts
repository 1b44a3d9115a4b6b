import document from "../../shared/api/openapi.json" with { type: "json" };
import { otherRoutes } from "../../shared/api/other-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { serveOpen } from "../serve-open.ts";

export const handler = serveOpen<"get-open-api">(otherRoutes["get-open-api"], async () => ok(document));
