import document from "../../shared/api/openapi.json" with { type: "json" };
import { ok } from "../../shared/kernel/result.ts";
import { serveOpen } from "../serve.ts";

export const handler = serveOpen("get-open-api", async () => ok(document));
