/** What the policies are promised to reach, and whether they do. All times are of landed changes. */
import type { Cell } from "./cells.ts";
import { SATURATED } from "./cells.ts";
import { DEFAULTS, FIXED_NAMES, TUNED, UNBATCHED } from "./policies.ts";
import type { Ratio, Summaries, Summary } from "./summary.ts";
import { labelOf, workload } from "./workload.ts";

/** `isHeld` is null where it was not measured. */
export type Goal = { readonly goal: string; readonly measured: string; readonly isHeld: boolean | null };

/** Of the best fixed setting: within so much of it counts as close, and beyond so much no case may be. */
const CLOSE = 1.1;
const CLOSE_SHARE_MIN = 0.7;
const WORST = 2;

export function goalsOf(cells: readonly Cell[], summaries: Summaries): readonly Goal[] {
  const find = (label: string, policy: string): Summary | undefined => {
    const cell = cells.find((one) => one.part !== "cases" && one.label === label);
    return cell === undefined ? undefined : summaries.of(cell, policy);
  };
  const at = (perHour: number): string => labelOf(workload({ perHour }));
  return [
    ...[5, 20, 100].flatMap((perHour) => latency(find(at(perHour), DEFAULTS), 1.1, 1.3, 0.3)),
    ...latency(find(at(400), TUNED), 1.15, 1.75, Infinity),
    ...saturation(find(labelOf(workload(SATURATED)), TUNED), find(labelOf(workload(SATURATED)), UNBATCHED)),
    ...cases(caseRows(cells, summaries)),
  ];
}

function latency(row: Summary | undefined, ratioMax: number, runsMax: number, wrongedMax: number): readonly Goal[] {
  if (row === undefined) return [];
  const { ratio, figure, policy, cell } = row;
  const limits = [`P50 and P95 at most ${ratioMax} of the oracle`, `at most ${runsMax} runs`];
  if (wrongedMax < Infinity) limits.push(`under ${wrongedMax} false ejections per 100`);
  const goal = `${policy}, ${cell.label}: ${limits.join(", ")}`;
  if (row.seeds === 0) return [{ goal, measured: "", isHeld: null }];
  return [
    {
      goal,
      measured:
        `${ratio.p50.mean.toFixed(2)} / ${ratio.p95.mean.toFixed(2)}, ${figure.runsPerLanded.mean.toFixed(2)} runs, ` +
        `${figure.wrongedPer100.mean.toFixed(2)} false`,
      isHeld:
        ratio.p50.mean <= ratioMax &&
        ratio.p95.mean <= ratioMax &&
        figure.runsPerLanded.mean <= runsMax &&
        figure.wrongedPer100.mean < wrongedMax,
    },
  ];
}

function saturation(batched: Summary | undefined, unbatched: Summary | undefined): readonly Goal[] {
  if (batched === undefined || unbatched === undefined) return [];
  const goal = `${batched.policy}, ${batched.cell.label}: P50 at most 0.85 of the same without batches, under 0.8 runs`;
  if (batched.seeds * unbatched.seeds === 0) return [{ goal, measured: "", isHeld: null }];
  const share = batched.ratio.p50.mean / unbatched.ratio.p50.mean;
  const runs = batched.figure.runsPerLanded.mean;
  return [
    {
      goal,
      measured: `${share.toFixed(2)}, ${runs.toFixed(2)} runs`,
      isHeld: share <= 0.85 && runs < 0.8,
    },
  ];
}

/** One case: the tuned setting, and the best of the fixed ones, by their means over the seeds. */
export type CaseRow = {
  readonly cell: Cell;
  readonly tuned: Summary;
  readonly best: Readonly<Record<"p50" | "p95", Summary>>;
  /** The fixed setting that lands the most in an hour. */
  readonly fastest: Summary;
};

export function caseRows(cells: readonly Cell[], summaries: Summaries): readonly CaseRow[] {
  return cells.flatMap((cell) => {
    const tuned = summaries.of(cell, TUNED);
    const rivals = FIXED_NAMES.flatMap((name) => summaries.of(cell, name) ?? []).filter((one) => one.seeds > 0);
    const best = (name: Ratio) => rivals.toSorted((a, b) => a.ratio[name].mean - b.ratio[name].mean)[0];
    const [p50, p95] = [best("p50"), best("p95")];
    const fastest = rivals.toSorted((a, b) => b.figure.mergesPerHour.mean - a.figure.mergesPerHour.mean)[0];
    if (cell.part !== "cases" || tuned === undefined || tuned.seeds === 0 || !p50 || !p95 || !fastest) return [];
    return [{ cell, tuned, best: { p50, p95 }, fastest }];
  });
}

/** How much longer it takes than the best fixed setting; where none keeps up, how much less than the best it lands. */
export const excessOf = ({ tuned, best, fastest }: CaseRow, name: "p50" | "p95"): number =>
  keepsUp(best[name])
    ? tuned.ratio[name].mean / best[name].ratio[name].mean
    : fastest.figure.mergesPerHour.mean / tuned.figure.mergesPerHour.mean;

/** No simulation of it was given up: then its times are of all changes. */
export const keepsUp = ({ ratio }: Summary): boolean => ratio.p50.most < NEVER_FROM;
const NEVER_FROM = 1_000;

function cases(rows: readonly CaseRow[]): readonly Goal[] {
  if (rows.length === 0) return [];
  return (["p50", "p95"] as const).map((name) => {
    const excesses = rows.map((row) => excessOf(row, name));
    const close = excesses.filter((excess) => excess <= CLOSE).length;
    const worst = Math.max(...excesses);
    return {
      goal:
        `${TUNED}, ${rows.length} cases, ${name.toUpperCase()}: within 10 % of the best fixed setting in at least ` +
        `${100 * CLOSE_SHARE_MIN} %, none worse than ${WORST} times`,
      measured: `${close} of ${rows.length} (${Math.round((100 * close) / rows.length)} %), worst ${worst.toFixed(2)}`,
      isHeld: close >= CLOSE_SHARE_MIN * rows.length && worst <= WORST,
    };
  });
}
