/** From counted units to a month's bill. Pure. */
import { type Item, ITEMS, type PriceList } from "./prices.ts";

/** So much of each in a month. */
export type Units = Readonly<Record<Item, number>>;

export const NOTHING: Units = {
  gatewayRequests: 0,
  invocations: 0,
  gbSeconds: 0,
  writeUnits: 0,
  readUnits: 0,
  tableGb: 0,
  logGb: 0,
  traces: 0,
  alarms: 0,
  dashboards: 0,
  metrics: 0,
  secrets: 0,
  s3Puts: 0,
  s3Gets: 0,
  s3Gb: 0,
  outGb: 0,
};

export const units = (some: Partial<Units>): Units => ({ ...NOTHING, ...some });

/** Each so many times. */
export function sum(...parts: readonly (readonly [times: number, of: Partial<Units>])[]): Units {
  const total = (item: Item): number => parts.reduce((all, [times, of]) => all + times * (of[item] ?? 0), 0);
  return { ...NOTHING, ...Object.fromEntries(ITEMS.map((item) => [item, total(item)])) };
}

export type Line = { readonly item: Item; readonly what: string; readonly quantity: number; readonly usd: number };

export function bill(used: Units, { prices }: PriceList): readonly Line[] {
  return ITEMS.map((item) => {
    const { usd, per, what } = prices[item];
    return { item, what, quantity: used[item], usd: (used[item] / per) * usd };
  });
}

export const totalOf = (lines: readonly Line[]): number => lines.reduce((total, { usd }) => total + usd, 0);

export type Month = { readonly name: string; readonly lines: readonly Line[] };

const dollars = (usd: number): string => (usd > 0 && usd < 0.005 ? "<0.01" : usd.toFixed(2));

const short = (quantity: number): string => {
  if (quantity >= 1e6) return `${(quantity / 1e6).toFixed(1)} M`;
  if (quantity >= 1e4) return `${Math.round(quantity / 1e3)} k`;
  return quantity >= 100 ? String(Math.round(quantity)) : String(Number(quantity.toPrecision(2)));
};

/** In Markdown: a row for each thing that costs anything in any of the months, and a column for each month. */
export function tableOf(months: readonly Month[]): string {
  const [first] = months;
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rows = (first?.lines ?? []).flatMap(({ item, what }) => {
    const found = months.map(({ lines }) => lines.find((line) => line.item === item));
    if (found.every((line) => (line?.usd ?? 0) === 0)) return [];
    return [row([what, ...found.map((line) => `${dollars(line?.usd ?? 0)} (${short(line?.quantity ?? 0)})`)])];
  });
  return [
    row(["USD a month (and how many)", ...months.map(({ name }) => name)]),
    row(["---", ...months.map(() => "---:")]),
    ...rows,
    row(["**all of it**", ...months.map(({ lines }) => `**${dollars(totalOf(lines))}**`)]),
  ].join("\n");
}
