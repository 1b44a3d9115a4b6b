/**
 * `npm run bench [-- --json <file>] [--only <part>]`: the figures that the service promises, measured in one run as
 * ratios and capacity units, which hold on any machine. Ends with a non-zero status when a goal is missed.
 */
import { parseArgs } from "node:util";
import { arithmetic } from "./arithmetic.ts";
import { bundles } from "./bundles.ts";
import { comparing } from "./comparing.ts";
import { github } from "./github.ts";
import { largeTargets } from "./large-targets.ts";
import { oneRead } from "./one-read.ts";
import { planning } from "./planning.ts";
import { readingJUnit } from "./reading-junit.ts";
import { type Row, tableOf, writeJson } from "./report.ts";
import { type BenchService, startService } from "./service.ts";
import { steps } from "./steps.ts";
import { submit } from "./submit.ts";
import { testHealth } from "./test-health.ts";
import { wholeQueue } from "./whole-queue.ts";

type Part = (service: BenchService) => Promise<readonly Row[]>;

const PARTS: Readonly<Record<string, Part>> = {
  table: arithmetic,
  read: oneRead,
  queue: wholeQueue,
  submit,
  step: steps,
  plan: planning,
  compare: comparing,
  targets: largeTargets,
  "test-health": testHealth,
  junit: readingJUnit,
  bundles,
  github,
};

const { values } = parseArgs({ options: { json: { type: "string" }, only: { type: "string" } } });
if (values.only !== undefined && !(values.only in PARTS)) {
  process.stderr.write(`There is no part ${values.only}; there are ${Object.keys(PARTS).join(", ")}.\n`);
  process.exit(2);
}

const begun = performance.now();
const rows: Row[] = [];
const service = await startService();
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (values.only !== undefined && values.only !== name) continue;
    process.stderr.write(`${name} …\n`);
    rows.push(...(await part(service)));
  }
} finally {
  await service.stop();
}
const seconds = (performance.now() - begun) / 1000;
process.stdout.write(`${tableOf(rows)}\n\n${Math.round(seconds)} seconds on Node ${process.version}\n`);
if (values.json !== undefined) writeJson(values.json, rows, seconds);
const missed = rows.filter((row) => row.holds === false);
if (missed.length > 0) process.stdout.write(`${missed.length} of the goals are missed.\n`);
process.exitCode = missed.length > 0 ? 1 : 0;
