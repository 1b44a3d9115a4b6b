/**
 * True probabilities of failure: 22,245 tests of 24 projects, each run 10,000 times at one commit (FlakeFlagger, BSD-3).
 * Those that always failed are broken where they were run, and taken as broken.
 */
import { readFileSync } from "node:fs";

export type MeasuredTest = {
  readonly project: string;
  /** From 0, never, to 1, always. */
  readonly failureProbability: number;
};

const COLUMNS = ["Project", "NumFailingRuns", "NumPassingRuns"] as const;

export function readDataset(path: string): readonly MeasuredTest[] {
  const [head = "", ...lines] = readFileSync(path, "utf8").trimEnd().split(/\r?\n/u);
  const names = head.split(",");
  const [projectAt, failingAt, passingAt] = COLUMNS.map((name) => names.indexOf(name));
  if (projectAt === undefined || failingAt === undefined || passingAt === undefined) throw new Error("no columns");
  return lines.map((line) => {
    // Names of tests hold commas: what stands behind the name is counted from the end.
    const cells = line.split(",");
    const behind = cells.length - names.length;
    const failing = Number(cells[failingAt + behind]);
    const passing = Number(cells[passingAt + behind]);
    if (!(failing + passing > 0)) throw new Error(`not a line of the data: ${line}`);
    return { project: cells[projectAt] ?? "", failureProbability: failing / (failing + passing) };
  });
}
