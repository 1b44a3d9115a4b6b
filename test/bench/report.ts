/** What the benchmark says: rows with a goal each, for people as a table and for scripts as JSON. */
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

export type Row = {
  readonly part: string;
  readonly name: string;
  /** In words and numbers, for people. */
  readonly measured: string;
  /** Empty where the figure is only to be stated. */
  readonly goal: string;
  readonly holds: boolean | null;
  readonly numbers: Readonly<Record<string, number>>;
};

export const stated = (part: string, name: string, measured: string, numbers: Row["numbers"]): Row => ({
  part,
  name,
  measured,
  goal: "",
  holds: null,
  numbers,
});

type Promised = { readonly goal: string; readonly holds: boolean };

export const promised = (
  part: string,
  name: string,
  measured: string,
  { goal, holds }: Promised,
  numbers: Row["numbers"],
): Row => ({ part, name, measured, goal, holds, numbers });

const VERDICTS = new Map([
  [true, "holds"],
  [false, "MISSED"],
  [null, ""],
]);

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => [row.part, row.name, row.measured, row.goal, VERDICTS.get(row.holds) ?? ""]);
  const all = [["", "what", "measured", "goal", ""], ...lines];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((line) => (line[at] ?? "").length)));
  const text = (line: readonly string[]): string =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return all.map(text).join("\n");
}

export function writeJson(path: string, rows: readonly Row[], seconds: number): void {
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model, cores: cpus().length, memoryBytes: totalmem(), node: process.version };
  writeFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), machine, seconds, rows }, null, 2)}\n`);
}

const digits = (value: number, count: number): string => value.toFixed(count).replace(/\.0+$/u, "");

export const units = (value: number): string => digits(value, 1);
export const times = (value: number): string => `${value.toFixed(2)}x`;
export const ms = (value: number): string => `${digits(value, value < 10 ? 2 : 0)} ms`;
export const mib = (bytes: number): string => `${digits(bytes / 1024 / 1024, 0)} MiB`;
export const kib = (bytes: number): string => `${digits(bytes / 1024, 1)} KiB`;
