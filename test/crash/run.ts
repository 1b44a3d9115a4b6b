/**
 * `npm run test:crash -- [--seed N] [--kills 60] [--point <name>] [--host github]`: kills the server again and again while its queue
 * is busy, and checks at the end that nothing was lost, done twice or left behind.
 */
import { parseArgs } from "node:util";
import { type CrashReport, crashRun } from "./crash.ts";
import { isHost, POINTS } from "./hosts.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    kills: { type: "string", default: "80" },
    point: { type: "string" },
    host: { type: "string", default: "git" },
  },
});
const seed = Number(values.seed);
const kills = Number(values.kills);
const { host } = values;
const points = isHost(host) ? POINTS[host] : [];
const isPoint = values.point === undefined || points.some((point) => point === values.point);
if (!isHost(host) || !Number.isInteger(seed) || !Number.isInteger(kills) || kills < 1 || !isPoint) {
  console.error(
    "usage: npm run test:crash -- [--seed <number>] [--kills <number>] [--point <name>] [--host git|github]",
  );
  console.error(`points: ${points.join(", ")}`);
  process.exit(2);
}
const more = [
  ...(values.point === undefined ? [] : ["--point", values.point]),
  ...(host === "git" ? [] : ["--host", host]),
];
const replay = ["npm run test:crash --", "--seed", seed, "--kills", kills, ...more].join(" ");

// Ctrl-C ends the server as well.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const since = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - since) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

const table = (title: string, rows: ReadonlyMap<string, number>): string =>
  [
    title,
    ...[...rows]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${String(count).padStart(5)}  ${name}`),
  ].join("\n");

function summary({ tally, startsMs, ledger, ends, logged }: CrashReport): string {
  const starts = startsMs.toSorted((a, b) => a - b).map(Math.round);
  const total = [...tally.server.values()].reduce((sum, one) => sum + one, 0);
  const byPoint = new Map<string, number>(points.map((point) => [point, tally.server.get(point) ?? 0]));
  return [
    table(`${total} kills of the server`, new Map([...byPoint, ...tally.server])),
    table("points that were waited for in vain", tally.missed),
    `${tally.table} kills of the table's process; ${tally.withAll} kills took everything along that the server had started`,
    `${starts.length} starts: median ${starts[Math.floor(starts.length / 2)]} ms, longest ${starts.at(-1)} ms`,
    table("submissions by their end", ends),
    `acknowledged: ${ledger.submitted.size} submissions, ${ledger.cancelled.size} cancels; pushed by hand: ${ledger.pushed.size}`,
    table("answers", ledger.answers),
    table("answers that were lost", ledger.losses),
    table("warnings and errors in the log", logged),
  ].join("\n");
}

console.log(`seed ${seed}; to choose the same again: ${replay}`);
const report = await crashRun({ seed, kills, point: values.point, host, say });
console.log(summary(report));
if (report.violations.length > 0) {
  console.error(`\n${report.violations.length} promises were broken:\n${report.violations.join("\n")}`);
  console.error(`\nThe data is kept in ${report.folder}. To choose the same again: ${replay}`);
  process.exitCode = 1;
} else {
  console.log(`\nAll promises were kept; seed ${seed}, ${Math.round((performance.now() - since) / 1_000)} s.`);
}
