/** List prices as data: what a thing costs, per how many of it. */
import { readFileSync } from "node:fs";
import * as z from "zod";

/** Everything that is paid for, in the order in which the bill names it. */
export const ITEMS = [
  "gatewayRequests",
  "invocations",
  "gbSeconds",
  "writeUnits",
  "readUnits",
  "tableGb",
  "logGb",
  "traces",
  "alarms",
  "dashboards",
  "metrics",
  "secrets",
  "s3Puts",
  "s3Gets",
  "s3Gb",
  "outGb",
] as const;
export type Item = (typeof ITEMS)[number];

const price = z.object({ usd: z.number().positive(), per: z.number().positive(), what: z.string().min(1) });
const priceList = z.object({
  region: z.string(),
  currency: z.literal("USD"),
  asOf: z.string().regex(/^\d{4}-\d{2}$/u),
  from: z.string(),
  prices: z.record(z.enum(ITEMS), price),
});

export type PriceList = z.output<typeof priceList>;

export const readPrices = (path: string | URL = new URL("prices.json", import.meta.url)): PriceList =>
  priceList.parse(JSON.parse(readFileSync(path, "utf8")));
