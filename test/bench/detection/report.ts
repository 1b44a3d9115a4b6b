/** The figures as tables in Markdown. */
import { BANDS, figuresOf, type Spread } from "./figures.ts";
import type { Goal } from "./goals.ts";
import type { Simulation } from "./simulate.ts";

const HEAD = [
  "Rule",
  ...BANDS.map((band) => `Recall: ${band}`),
  "Precision",
  "False: stable",
  "regressed",
  "broken",
  "Days to call: p ≥ 1 %",
  "p 0.1–1 %",
];

export function rulesTable(title: string, simulations: readonly Simulation[]): string {
  const names = [...(simulations[0]?.calls.keys() ?? [])];
  const rows = names.map((name) => {
    const { recall, precision, falseCalls, daysToCall } = figuresOf(simulations, name);
    return [
      name,
      ...BANDS.map((band) => shares(recall[band])),
      shares(precision),
      ...[falseCalls.stable, falseCalls.regressed, falseCalls.broken].map(counts),
      ...([BANDS[0], BANDS[1]] as const).map((band) => figure(daysToCall[band].mean, 1)),
    ];
  });
  return `### ${title}\n\n${table(HEAD, rows)}`;
}

export function outageLines(title: string, simulations: readonly Simulation[]): string {
  const lines = simulations.map(
    ({ seed, outage, changed }) =>
      `- seed ${seed}: ${outage.told} of ${outage.uploads} uploads told as an outage; changed: ${changed.others} tests ` +
      `that are not flaky; flaky ones called only with it ${changed.gained}, only without it ${changed.lost}`,
  );
  return `### ${title}\n\n${lines.join("\n")}`;
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ goal, measured, isHeld }) => [goal, measured, isHeld ? "held" : "NOT HELD"]);
  return `### Goals\n\n${table(["Goal", "Measured", ""], rows)}`;
}

const figure = (value: number, digits: number): string => (Number.isNaN(value) ? "none" : value.toFixed(digits));
/** The mean over the seeds, and half of the distance between the least and the most. */
const around = ({ mean, least, most }: Spread, digits: number): string =>
  Number.isNaN(mean) ? "none" : `${mean.toFixed(digits)} ±${((most - least) / 2).toFixed(digits)}`;
const shares = (of: Spread): string => around(of, 3);
const counts = (of: Spread): string => (of.most === 0 ? "0" : around(of, 1));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}
