/** One simulation: a policy, in one world. What is known of it already is not run again. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveSettings } from "../../../shared/schemas/queue-settings.ts";
import type { Cell } from "./cells.ts";
import { type Figures, figuresOf } from "./measure.ts";
import { policyOf } from "./policies.ts";
import type { Workload } from "./workload.ts";
import { worldOf } from "./world.ts";

export type Task = { readonly policy: string; readonly load: Workload; readonly seed: number };

/** `problem`: why there are no figures. */
export type Outcome = { readonly figures: Figures | null; readonly problem: string | null; readonly seconds: number };

export function perform({ policy, load, seed }: Task): Outcome {
  const begun = performance.now();
  const secondsSince = (): number => (performance.now() - begun) / 1000;
  try {
    const world = worldOf(load, seed);
    const figures = figuresOf(world, policyOf(policy).run(world));
    return { figures, problem: null, seconds: secondsSince() };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { figures: null, problem, seconds: secondsSince() };
  }
}

/** Each once, though several cells may ask for it; the heavier first, so that no worker is left with them at the end. */
export function tasksOf(cells: readonly Cell[], seeds: number): readonly Task[] {
  const tasks = new Map<string, Task>();
  for (const { load, policies } of cells)
    for (let seed = 1; seed <= seeds; seed += 1)
      for (const policy of policies) tasks.set(nameOf({ policy, load, seed }), { policy, load, seed });
  const weight = ({ load, policy }: Task): number =>
    load.perHour * (load.overlap === "CLUSTERED" ? 20 : load.overlap * 100) * (policyOf(policy).usesEngine ? 10 : 1);
  return [...tasks.values()].sort((a, b) => weight(b) - weight(a));
}

export const nameOf = ({ policy, load, seed }: Task): string => JSON.stringify([policy, seed, load]);

/** Finished simulations, by name. */
export type Known = Map<string, Outcome>;

/**
 * A file of finished simulations, a line each. A line counts only as long as the code that it came from is the same:
 * the simulator's, and for Mainline the engine's.
 */
export type StateFile = { readonly known: Known; readonly add: (task: Task, outcome: Outcome) => void };

export function openStateFile(path: string): StateFile {
  const codes = { simulator: digestOf(HERE), engine: digestOf(HERE, ENGINE) };
  const codeOf = (task: Task): string => (policyOf(task.policy).usesEngine ? codes.engine : codes.simulator);
  const known: Known = new Map();
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  for (const line of lines) {
    const parsed = parse(line);
    if (parsed !== undefined && isCurrent(parsed.code, codes)) known.set(parsed.name, parsed.outcome);
  }
  return {
    known,
    add: (task, outcome) => {
      const name = nameOf(task);
      known.set(name, outcome);
      // What went wrong is tried again by the next start.
      if (outcome.problem === null) appendFileSync(path, `${JSON.stringify({ name, code: codeOf(task), outcome })}\n`);
    },
  };
}

const isCurrent = (code: string, codes: { readonly simulator: string; readonly engine: string }): boolean =>
  code === codes.simulator || code === codes.engine;

type Line = { readonly name: string; readonly code: string; readonly outcome: Outcome };

/** Undefined for a line that was cut off when the bench was stopped. */
function parse(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return undefined;
  }
}

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ENGINE = fileURLToPath(new URL("../../../shared/queue/engine", import.meta.url));
/** What is shown, and how the work is shared out, changes no figure. */
const SHOWS = /^(?:cells|tasks|pool|worker|run|report|goals|summary)\.ts$/u;

function digestOf(...folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of folders)
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort())
      if (name.endsWith(".ts") && !SHOWS.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
  // Mainline's defaults are settings that no file here holds.
  return hash
    .update(JSON.stringify(resolveSettings({})))
    .digest("hex")
    .slice(0, 16);
}
