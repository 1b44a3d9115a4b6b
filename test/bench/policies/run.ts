/**
 * `npm run bench:policies -- [--quick] [--only loads|factors|cases] [--seeds <n>] [--state <file>] [--json <file>]`:
 * merge queues against each other, on the same arrivals, outcomes and workers. Prints tables in Markdown and whether
 * the goals are held; ends with a non-zero status when one is not. Two processes; what the state file knows already is
 * not run again, so that a run that was stopped goes on where it was.
 */
import { writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fullCells, PARTS, quickCells } from "./cells.ts";
import { goalsOf } from "./goals.ts";
import { performAll } from "./pool.ts";
import { reportOf } from "./report.ts";
import { summarize } from "./summary.ts";
import { type Known, nameOf, openStateFile, type Task, tasksOf } from "./tasks.ts";

const PROCESSES = 2;
const SEEDS = { full: 5, quick: 2 } as const;
/** A simulation that takes longer stands still, or soon will be all that the bench does. */
const SECONDS_MAX = { full: 1_200, quick: 60 } as const;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    seeds: { type: "string" },
    state: { type: "string", default: join(tmpdir(), "mainline-bench-policies.jsonl") },
    json: { type: "string" },
  },
});
const size = values.quick ? "quick" : "full";
const seeds = Number(values.seeds ?? SEEDS[size]);
const parts: readonly string[] = PARTS;
if (!Number.isInteger(seeds) || seeds < 1 || (values.only !== undefined && !parts.includes(values.only))) {
  process.stderr.write(`--seeds takes a number of at least 1, --only one of ${parts.join(", ")}.\n`);
  process.exit(2);
}

const begun = performance.now();
const cells = (values.quick ? quickCells() : fullCells()).filter(
  (cell) => values.only === undefined || values.only === cell.part,
);
const tasks = tasksOf(cells, seeds);
const { known, add } = openStateFile(values.state);
const left = tasks.filter((task) => !known.has(nameOf(task)));
process.stderr.write(`${tasks.length} simulations, ${tasks.length - left.length} of them known from ${values.state}\n`);
let done = 0;
await performAll(left, {
  processes: PROCESSES,
  secondsMax: SECONDS_MAX[size],
  done: (task, outcome) => {
    add(task, outcome);
    done += 1;
    if (done % 50 === 0 || done === left.length) process.stderr.write(`${done} of ${left.length} …\n`);
  },
});
const seconds = (performance.now() - begun) / 1000;
const summaries = summarize(cells, seeds, known);
const goals = goalsOf(cells, summaries);
const changes = [...new Set(cells.map((cell) => cell.load.changes))].join(" or ");
const ran = `${seeds} seeds of ${changes} changes, the first fifth dropped; ${Math.round(seconds)} s on Node ${process.version}`;
process.stdout.write(`${reportOf(cells, summaries, goals)}\n\n${ran}\n`);
if (values.json !== undefined) writeJson(values.json, known, tasks);
const missed = goals.filter((goal) => goal.isHeld !== true).length;
const broken = tasks.filter((task) => known.get(nameOf(task))?.figures === null).length;
if (missed + broken > 0) process.stdout.write(`${missed} goals are not held; ${broken} simulations did not end.\n`);
process.exitCode = missed + broken > 0 ? 1 : 0;

/** Every simulation by itself, then what follows from them. */
function writeJson(path: string, known: Known, tasks: readonly Task[]): void {
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
  const rows = tasks.map((task) => ({ ...task, ...known.get(nameOf(task)) }));
  const all = { at: new Date().toISOString(), machine, seconds, seeds, rows, summaries: summaries.all, goals };
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
}
