/**
 * `npm run bench:detection -- [--seeds <n>]`: how well flaky tests are told from those that are not.
 *
 * True probabilities of failure come from `flakeflagger_test_results.csv` in the folder MAINLINE_DATA, or in
 * `../shared/data`; without it this says so and ends well. A generator makes regressions, broken tests and one outage of
 * half an hour (population.ts) in six weeks of uploads (schedule.ts): 2,700 uploads of each project's job, 900 of them
 * on the default branch. Once with up to 2 retries of a failing test
 * within an upload, once with none. Schedule and generator were written before the first run and are not fitted to the
 * goals; what they do not hold, they do not hold.
 *
 * A flaky test is one that both passed and failed in its 10,000 runs, 811 in all. It is called when the rule says FLAKY
 * at any time in the six weeks; recall is the share of such that are called. A false call is a test of another kind that
 * was called at any time, the outage included. Days to call are from a test's first failure.
 *
 * Mainline is fed as the service feeds it: outages are judged from the totals of uploads and commits, a test when an
 * upload with a failure of it comes, when it passes again on the default branch, until a pass is clear of its failures,
 * and when its last verdict said to look again.
 *
 * Ends with a non-zero status when a goal is not held. Five seeds take two to three minutes of one core.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readDataset } from "./dataset.ts";
import { goalsOf } from "./goals.ts";
import { goalTable, outageLines, rulesTable } from "./report.ts";
import { type Simulation, simulate } from "./simulate.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const RETRIES = 2;
const OUTAGE_MINUTES = 30;
/** Longer than what is told as an outage may last in a busy repository. No goal. */
const LONG_OUTAGE_MINUTES = 120;

const { values } = parseArgs({ options: { seeds: { type: "string", default: "5" } } });
const seeds = Number(values.seeds);
if (!Number.isInteger(seeds) || seeds < 1) {
  process.stderr.write("--seeds takes a number of at least 1.\n");
  process.exit(2);
}
const path = resolve(process.env["MAINLINE_DATA"] ?? join(ROOT, "../shared/data"), "flakeflagger_test_results.csv");
if (existsSync(path)) measure(path);
else process.stdout.write(`${path} is missing: nothing is measured.\n`);

function measure(file: string): void {
  const begun = performance.now();
  const measured = readDataset(file);
  const simulated = (retries: number): readonly Simulation[] =>
    Array.from({ length: seeds }, (_, at) => {
      process.stderr.write(`seed ${at + 1} of ${seeds}, ${retries} retries …\n`);
      return simulate(measured, { seed: at + 1, retries, outageMinutes: OUTAGE_MINUTES });
    });
  const [withRetries, without] = [simulated(RETRIES), simulated(0)];
  const long = simulate(measured, { seed: 1, retries: RETRIES, outageMinutes: LONG_OUTAGE_MINUTES });
  const goals = goalsOf(withRetries, without);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const parts = [
    rulesTable(`Up to ${RETRIES} retries`, withRetries),
    rulesTable("No retries", without),
    outageLines(`An outage of ${OUTAGE_MINUTES} minutes, with retries`, withRetries),
    outageLines(`An outage of ${LONG_OUTAGE_MINUTES} minutes, with retries (no goal)`, [long]),
    goalTable(goals),
    `${measured.length} tests, ${seeds} seeds of ${withRetries[0]?.uploads} uploads; ${seconds} s on Node ${process.version}`,
  ];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  const missed = goals.filter((goal) => !goal.isHeld).length;
  if (missed > 0) process.stdout.write(`${missed} of ${goals.length} goals are not held.\n`);
  process.exitCode = missed > 0 ? 1 : 0;
}
