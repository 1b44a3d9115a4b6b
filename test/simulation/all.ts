/**
 * `npm run simulate:all [-- --first 1 --count 1000 --hours 0.3 --processes 2]`: that many seeds; the log is kept in
 * last-run.log beside this file.
 */
import { createWriteStream } from "node:fs";
import { parseArgs } from "node:util";
import { simulateMany, type Verdict } from "./many.ts";

const { values } = parseArgs({
  options: {
    first: { type: "string", default: "1" },
    count: { type: "string", default: "1000" },
    hours: { type: "string", default: "0.3" },
    processes: { type: "string", default: "2" },
    log: { type: "string", default: new URL("last-run.log", import.meta.url).pathname },
  },
});
const [first, count, hours, processes] = [values.first, values.count, values.hours, values.processes].map(Number);
if (first === undefined || count === undefined || hours === undefined || processes === undefined) process.exit(2);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const log = createWriteStream(values.log);
const say = (line: string): void => {
  console.log(line);
  log.write(`${line}\n`);
};

const since = performance.now();
const minutes = (): string => ((performance.now() - since) / 60_000).toFixed(1);
const sums = new Map<string, number>();
const failed: number[] = [];
let done = 0;

function heard({ seed, problems, counts, text, fingerprint }: Verdict): void {
  done += 1;
  for (const [name, times] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + times);
  if (problems.length > 0) failed.push(seed);
  if (problems.length > 0) say(text);
  else log.write(`seed ${seed} ${fingerprint} kept all promises\n`);
  if (done % 20 === 0) console.log(`${done} of ${count} seeds after ${minutes()} minutes, ${failed.length} failed`);
}

const seeds = Array.from({ length: count }, (_, at) => first + at);
say(`${count} seeds from ${first} on, ${hours} hours of trouble each, in ${processes} processes`);
const notTried = await simulateMany({ seeds, hours, processes, done: heard });
for (const what of notTried) say(what);
say(`${done} seeds in ${minutes()} minutes`);
for (const [name, times] of [...sums].toSorted(([one], [other]) => one.localeCompare(other)))
  say(`${String(times).padStart(8)}  ${name}`);
say(
  failed.length === 0
    ? "All promises were kept."
    : `Seeds that broke a promise: ${failed.toSorted((a, b) => a - b).join(", ")}`,
);
if (failed.length + notTried.length > 0) process.exitCode = 1;
log.end();
