/** What is told of a simulation when it is over. */
import { HOUR_MS } from "../../shared/kernel/time.ts";
import type { Fault } from "./machine/faults.ts";
import type { World } from "./world.ts";

export type Report = {
  readonly seed: number;
  /** Of virtual time, all of it. */
  readonly hours: number;
  readonly seconds: number;
  readonly tableCalls: number;
  readonly deaths: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly fingerprint: string;
  readonly problems: readonly string[];
  readonly lastLines: readonly string[];
};

export const mintReport = (world: World, ms: number): Report => ({
  seed: world.seed,
  hours: (world.scheduler.now() - world.startedAt) / HOUR_MS,
  seconds: ms / 1_000,
  tableCalls: world.weather.calls,
  deaths: world.service.site.deaths,
  counts: world.book.counts,
  faults: world.faults.counts,
  fingerprint: world.book.fingerprint(),
  problems: world.book.problems,
  lastLines: world.book.lines,
});

/** Those with a colon are of one kind each: they are of interest only over many seeds. */
const plain = (counts: ReadonlyMap<string, number>) => new Map([...counts].filter(([name]) => !name.includes(":")));

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

export function textOf(report: Report): string {
  const { seed, hours, seconds, tableCalls, deaths, counts, faults, fingerprint, problems, lastLines } = report;
  const lines = [
    `seed ${seed}, ${hours.toFixed(1)} virtual hours in ${seconds.toFixed(1)} s, ${tableCalls} calls of the table, decisions ${fingerprint}`,
    `  ${listed(plain(counts))}`,
    `  ${deaths} deaths; faults: ${listed(faults)}`,
  ];
  if (problems.length === 0) return lines.join("\n");
  const replay = `npm run simulate -- --seed ${seed} --hours ${hours}`;
  return [...lines, "", ...lastLines, "", `${problems.length} promises were broken:`, ...problems, "", replay].join(
    "\n",
  );
}
