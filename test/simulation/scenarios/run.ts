/**
 * `npm run simulate:scenarios -- [--only <part of a name>] [--faults table] [--seed N] [--log]`: every scenario without
 * faults and under each class of them. `--part 1/2` plays every second one, for several processes at a time. With
 * `--host github` they are played on GitHub's twin, in real time, without faults and with those that the twin knows.
 */
import { parseArgs } from "node:util";
import { FAULT_CLASSES } from "../machine/faults.ts";
import { loadFunctions } from "../machine/gateway.ts";
import { startStorage } from "../machine/storage.ts";
import { textOf } from "../report.ts";
import { SCENARIOS } from "./all.ts";
import { playAll } from "./github/all.ts";
import { NO_SWEEP, playScenario, type Staging } from "./play.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    faults: { type: "string" },
    seed: { type: "string", default: "1" },
    part: { type: "string", default: "1/1" },
    log: { type: "boolean", default: false },
    host: { type: "string", default: "scripted" },
  },
});
if (values.host === "github") {
  for (const faults of values.faults === "none" ? [false] : [false, true]) {
    console.log(faults ? "with faults" : "without faults");
    const told = await playAll({ faults, seed: Number(values.seed), only: values.only, say: console.log });
    if (told.some((one) => one.problems.length > 0)) process.exitCode = 1;
  }
  process.exit();
}
const [part, parts] = values.part.split("/").map(Number);
const classes = values.faults === undefined ? ["none", NO_SWEEP, ...FAULT_CLASSES] : [values.faults];
const echo = values.log ? console.log : undefined;
const seed = Number(values.seed);

const stagings: readonly Staging[] = SCENARIOS.filter((scenario) => scenario.name.includes(values.only)).flatMap(
  (scenario, at) =>
    classes.map((faults, of) => {
      const deployment = (at + of) % 3 === 0 ? "SERVER" : "LAMBDAS";
      return { scenario, faults, deployment, seed, echo } as const;
    }),
);

const storage = await startStorage();
const functions = await loadFunctions();
for (const [at, staging] of stagings.entries()) {
  if (at % (parts ?? 1) !== (part ?? 1) - 1) continue;
  const { scenario, faults, deployment } = staging;
  if (faults === NO_SWEEP && scenario.needsTime === true) continue;
  const report = await playScenario(staging, storage, functions);
  const title = `${scenario.name}; faults: ${faults}; ${deployment}`;
  const isKept = report.problems.length === 0;
  console.log(isKept ? `kept    ${title} (${report.seconds.toFixed(1)} s)` : `BROKEN  ${title}\n${textOf(report)}\n`);
  if (!isKept) process.exitCode = 1;
}
await storage.stop();
