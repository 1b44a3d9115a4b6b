/** `npm run simulate -- --seed N --hours H [--count C] [--log]`: C seeds from N on; the first that breaks a promise ends it. */
import { parseArgs } from "node:util";
import { loadFunctions } from "./machine/gateway.ts";
import { startStorage } from "./machine/storage.ts";
import { textOf } from "./report.ts";
import { simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    hours: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    log: { type: "boolean", default: false },
  },
});
const [seed, hours, count] = [values.seed, values.hours, values.count].map(Number);
if (seed === undefined || hours === undefined || count === undefined || !Number.isInteger(seed) || !(hours > 0)) {
  console.error("usage: npm run simulate -- [--seed <number>] [--hours <number>] [--count <number>] [--log]");
  process.exit(2);
}

const storage = await startStorage();
const functions = await loadFunctions();
for (let at = 0; at < count; at += 1) {
  const echo = values.log ? console.log : undefined;
  const report = await simulate({ seed: seed + at, hours, echo }, storage, functions);
  console.log(textOf(report));
  if (report.problems.length === 0) continue;
  process.exitCode = 1;
  break;
}
await storage.stop();
