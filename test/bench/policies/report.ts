/** The figures as tables in Markdown. */
import type { Cell } from "./cells.ts";
import { caseRows, excessOf, type Goal, keepsUp } from "./goals.ts";
import { COMPARED_NAMES, ORACLE } from "./policies.ts";
import { type Ratio, RATIO_MAX, type Spread, type Summaries, type Summary } from "./summary.ts";

export function reportOf(cells: readonly Cell[], summaries: Summaries, goals: readonly Goal[]): string {
  const loads = cells.filter((cell) => cell.part === "loads");
  const factors = cells.filter((cell) => cell.part === "factors");
  const parts = [
    ...loads.map((cell) => loadTable(cell, summaries)),
    factorTable(factors, summaries),
    caseTable(cells, summaries),
    problemsOf(summaries),
    goalTable(goals),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}

const digits = (value: number): string => value.toFixed(2);
/** The mean over the seeds, and half of the distance between the least and the most. */
const spreadOf = ({ mean, least, most }: Spread): string => `${digits(mean)} ±${digits((most - least) / 2)}`;

/** Where the oracle is overloaded as well, the ratio still says something, within measure. */
function ratioText(row: Summary, oracle: Summary | undefined, name: Ratio, text: (of: Spread) => string): string {
  const of = row.ratio[name];
  if (row.seeds === 0) return "none";
  if (name === "merges per hour") return text(of);
  const isTold = row.isOverloaded && oracle?.isOverloaded !== true;
  return isTold || of.mean > RATIO_MAX ? "overloaded" : text(of);
}

const HEAD = [
  "Policy",
  "Landed: P50",
  "P95",
  "P99",
  "All: P50",
  "P95",
  "P99",
  "Merges per hour",
  "Runs",
  "Worker-hours",
  "Aborted",
  "False ejections",
  "Truly green",
  "Fairness",
] as const;
const TIMES: readonly Ratio[] = ["p50", "p95", "p99", "all p50", "all p95", "all p99", "merges per hour"];

function loadTable(cell: Cell, summaries: Summaries): string {
  const oracle = summaries.of(cell, ORACLE);
  const rows = cell.policies.flatMap((policy) => {
    const row = summaries.of(cell, policy);
    if (row === undefined) return [];
    const { figure } = row;
    return [
      [
        policy,
        ...TIMES.map((name) => ratioText(row, oracle, name, spreadOf)),
        digits(figure.runsPerLanded.mean),
        digits(figure.workerHoursPerLanded.mean),
        percent(figure.abortedShare),
        spreadOf(figure.wrongedPer100),
        percent(figure.greenShare),
        digits(figure.fairness.mean),
      ],
    ];
  });
  if (rows.length === 0) return "";
  return `### ${titleOf(cell, oracle)}\n\n${table(HEAD, rows)}`;
}

const percent = ({ mean }: Spread): string => `${(100 * mean).toFixed(1)} %`;
const titleOf = (cell: Cell, oracle: Summary | undefined): string =>
  oracle?.isOverloaded === true ? `${cell.label} (the oracle is overloaded as well)` : cell.label;

/** One line per factor and policy would be long: two tables with a column per policy. */
function factorTable(cells: readonly Cell[], summaries: Summaries): string {
  const policies = COMPARED_NAMES.filter((name) => name !== ORACLE);
  const columns = (textOf: (row: Summary, oracle: Summary | undefined) => string) =>
    cells.map((cell) => {
      const oracle = summaries.of(cell, ORACLE);
      const texts = policies.map((policy) => {
        const row = summaries.of(cell, policy);
        return row === undefined ? "" : textOf(row, oracle);
      });
      return [titleOf(cell, oracle), ...texts];
    });
  if (cells.length === 0) return "";
  const times = columns((row, oracle) => {
    const [p50, p95] = (["p50", "p95"] as const).map((name) =>
      ratioText(row, oracle, name, ({ mean }) => digits(mean)),
    );
    return p50 === p95 ? (p50 ?? "") : `${p50} / ${p95}`;
  });
  const costs = columns(({ seeds, figure }) =>
    seeds === 0
      ? "none"
      : `${digits(figure.runsPerLanded.mean)} / ${digits(figure.wrongedPer100.mean)} / ${percent(figure.greenShare)}`,
  );
  const head = ["", ...policies];
  return [
    `### One factor at a time\n\nLanded changes, P50 / P95 of the oracle's:\n\n${table(head, times)}`,
    `Runs per landed change / false ejections per 100 good changes / truly green:\n\n${table(head, costs)}`,
  ].join("\n\n");
}

function caseTable(cells: readonly Cell[], summaries: Summaries): string {
  const rows = caseRows(cells, summaries).map((row) => [
    row.cell.label,
    ...(["p50", "p95"] as const).flatMap((name) => [
      caseText(row.tuned, name),
      keepsUp(row.best[name])
        ? `${caseText(row.best[name], name)} ${shortName(row.best[name])}`
        : `${digits(row.fastest.figure.mergesPerHour.mean)} an hour ${shortName(row.fastest)}`,
      digits(excessOf(row, name)),
    ]),
    digits(row.tuned.figure.runsPerLanded.mean),
  ]);
  if (rows.length === 0) return "";
  const head = ["Case", "P50", "best fixed", "times", "P95", "best fixed", "times", "Runs"];
  return `### One setting against the best fixed one\n\nLanded changes, of the oracle's:\n\n${table(head, rows)}`;
}

const shortName = ({ policy }: Summary): string => policy.replace("fixed: ", "");

/** Of one that did not keep up, what it lands. */
const caseText = (of: Summary, name: Ratio): string =>
  keepsUp(of) ? digits(of.ratio[name].mean) : `${digits(of.figure.mergesPerHour.mean)} an hour`;

function problemsOf({ all }: Summaries): string {
  const lines = all.flatMap(({ cell, policy, problems }) =>
    problems.map((problem) => `- ${cell.label}, ${policy}: ${problem}`),
  );
  return lines.length === 0 ? "" : `### Not measured\n\n${lines.join("\n")}`;
}

const VERDICTS = new Map([
  [true, "held"],
  [false, "NOT HELD"],
  [null, "not measured"],
]);

function goalTable(goals: readonly Goal[]): string {
  if (goals.length === 0) return "";
  const rows = goals.map(({ goal, measured, isHeld }) => [goal, measured, VERDICTS.get(isHeld) ?? ""]);
  return `### Goals\n\n${table(["Goal", "Measured", ""], rows)}`;
}
