/**
 * `npm run simulate:scenarios -- [--only <part of a name>] [--faults table] [--seed N] [--log]`: every scenario without
 * faults and under each class of them. `--part 1/2` plays every second one, for several processes at a time. With
 * `--host github` they are played on GitHub's twin, in real time, without faults and with those that the twin knows.
 */
import { parseArgs } from "node:util";
import { loadFunctions } from "../machine/gateway.ts";
import { endWithOwner } from "../machine/owner.ts";
import { startStorage } from "../machine/storage.ts";
import { textOf } from "../report.ts";
import { playAll } from "./github/all.ts";
import { playScenario } from "./play.ts";
import { stagingsOf } from "./stagings.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    faults: { type: "string" },
    seed: { type: "string", default: "1" },
    part: { type: "string" },
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
const [part = 1, parts = 1] = values.part?.split("/").map(Number) ?? [];
const echo = values.log ? console.log : undefined;
const { only, faults: fault } = values;

// A part is played for somebody who plays the others.
if (values.part !== undefined) endWithOwner();
const storage = await startStorage();
const functions = await loadFunctions();
for (const staging of stagingsOf({ only, faults: fault, seed: Number(values.seed), echo, part: [part, parts] })) {
  const { scenario, faults, deployment } = staging;
  const report = await playScenario(staging, storage, functions);
  const title = `${scenario.name}; faults: ${faults}; ${deployment}`;
  const isKept = report.problems.length === 0;
  console.log(isKept ? `kept    ${title} (${report.seconds.toFixed(1)} s)` : `BROKEN  ${title}\n${textOf(report)}\n`);
  if (!isKept) process.exitCode = 1;
}
await storage.stop();
