import * as z from "zod";
import { timeOut } from "./wire.ts";

export const status = z.object({ status: z.literal("OK"), version: z.string(), time: timeOut }).meta({ id: "Status" });

/** The document describes itself: anything more exact would be a copy of the OpenAPI specification. */
export const openApiDocument = z.record(z.string(), z.unknown());

export const noFields = z.object({});
