/** One seed: a world, its people, so many hours of trouble, and the calm after it. */
import { HOUR_MS } from "../../shared/kernel/time.ts";
import { calmDown } from "./calm.ts";
import { EndJudge } from "./judges/ending.ts";
import { mixtureOf } from "./machine/faults.ts";
import type { Functions } from "./machine/gateway.ts";
import { randomFor } from "./machine/random.ts";
import type { Storage } from "./machine/storage.ts";
import { ALL_SCOPES, aCaller, nobody } from "./people/callers.ts";
import { traffic } from "./people/traffic.ts";
import { type Plot, plotOf } from "./plot.ts";
import { mintReport, type Report } from "./report.ts";
import { inWorld, REF, type World, type WorldOptions } from "./world.ts";

export type Simulation = {
  readonly seed: number;
  /** Of virtual time with trouble in it; the calm comes after them. */
  readonly hours: number;
  readonly echo?: ((line: string) => void) | undefined;
};

export async function simulate(of: Simulation, storage: Storage, functions: Functions): Promise<Report> {
  const { seed, hours, echo } = of;
  const plot = plotOf(randomFor(seed, "plot"));
  const { deployment, habits } = plot;
  const options = { seed, deployment, habits, faults: mixtureOf(seed), functions, echo };
  return inOwnTable(storage, options, (world) => play(world, plot, hours));
}

let made = 0;

/** In a world with an empty table, until it is over or something is wrong. */
export async function inOwnTable(
  storage: Storage,
  options: Omit<WorldOptions, "table" | "endpoint">,
  work: (world: World) => Promise<void>,
): Promise<Report> {
  const table = await storage.create(`simulation-${(made += 1)}`);
  const since = performance.now();
  try {
    return await inWorld({ ...options, table, endpoint: storage.endpoint }, async (world) => {
      try {
        await work(world);
      } catch (error) {
        world.book.problem(`the simulation itself failed: ${error instanceof Error ? error.stack : String(error)}`);
      }
      return mintReport(world, performance.now() - since);
    });
  } finally {
    await table.drop();
  }
}

async function play(world: World, plot: Plot, hours: number): Promise<void> {
  const { scheduler, service } = world;
  const admin = await aCaller(world, "admin", ALL_SCOPES);
  const people = {
    admin,
    client: await aCaller(world, "client", ["read", "submit"]),
    foreigner: await aCaller(world, "foreigner", ALL_SCOPES, "other"),
    reader: await aCaller(world, "reader", ["read"]),
    nobody: nobody(world),
  };
  service.start();
  const stop = traffic(world, people, REF, plot);
  await scheduler.run(hours * HOUR_MS);
  await stop();
  if (!scheduler.isStopped) await calmDown(world, admin, REF);
  if (!scheduler.isStopped) await judgeEnd(world);
}

/** Nobody is in the queue any more. */
export async function judgeEnd(world: World): Promise<void> {
  const { book, commits, promises, host, table, scheduler } = world;
  promises.kept(commits.ended, commits.moves.values());
  await scheduler.really(() => new EndJudge(book, commits, host).judge(table));
}
