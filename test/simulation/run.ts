/**
 * `npm run simulate -- --seed N --hours H [--count C] [--log]`: C seeds from N on; the first that breaks a promise ends
 * it. `--seeds 1,2,3 --json` goes through all of them and says a line about each, for many.ts.
 */
import { parseArgs } from "node:util";
import { loadFunctions } from "./machine/gateway.ts";
import { endWithOwner } from "./machine/owner.ts";
import { startStorage } from "./machine/storage.ts";
import { textOf } from "./report.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    hours: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    seeds: { type: "string" },
    log: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const hours = Number(values.hours);
const seeds =
  values.seeds?.split(",").map(Number) ?? Array.from({ length: Number(values.count) }, (_, at) => first + at);
if (!seeds.every(Number.isInteger) || !(hours > 0)) {
  console.error("usage: npm run simulate -- [--seed <number>] [--hours <number>] [--count <number>] [--log]");
  process.exit(2);
}

if (values.json) endWithOwner();
const storage = await startStorage();
const functions = await loadFunctions();
for (const seed of seeds) {
  const echo = values.log ? console.log : undefined;
  const report = await simulate({ seed, hours, echo }, storage, functions);
  const { problems, seconds, fingerprint } = report;
  const text = textOf(report);
  const counts = Object.fromEntries(report.counts);
  const replay = `npm run simulate -- --seed ${seed} --hours ${hours}`;
  const told = problems.length === 0 ? text : `${text}\n\n${replay}`;
  console.log(values.json ? JSON.stringify({ seed, hours, seconds, fingerprint, counts, problems, text: told }) : told);
  if (problems.length > 0) process.exitCode = 1;
  if (problems.length > 0 && !values.json) break;
}
await storage.stop();
