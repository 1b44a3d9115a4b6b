/** One seed: a world, its people, so many hours of trouble, and the calm after it. */
import { hashToken, mintToken } from "../../shared/auth/token-format.ts";
import { HOUR_MS } from "../../shared/kernel/time.ts";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import type { Random } from "../crash/random.ts";
import { calmDown } from "./calm.ts";
import { EndJudge } from "./judges/ending.ts";
import { mixtureOf } from "./machine/faults.ts";
import type { Functions } from "./machine/gateway.ts";
import { randomFor } from "./machine/random.ts";
import type { Storage } from "./machine/storage.ts";
import { Caller } from "./people/caller.ts";
import { mintReport, type Report } from "./report.ts";
import { plotOf } from "./plot.ts";
import { traffic } from "./people/traffic.ts";
import { inWorld, ORG, REPO, type World } from "./world.ts";

export type Simulation = {
  readonly seed: number;
  /** Of virtual time with trouble in it; the calm comes after them. */
  readonly hours: number;
  readonly echo?: ((line: string) => void) | undefined;
};

let made = 0;

export async function simulate(of: Simulation, storage: Storage, functions: Functions): Promise<Report> {
  const { seed, hours, echo } = of;
  const table = await storage.create(`simulation-${(made += 1)}`);
  const since = performance.now();
  try {
    const faults = mixtureOf(seed);
    const plot = plotOf(randomFor(seed, "plot"));
    const { deployment, habits } = plot;
    const options = { seed, deployment, habits, faults, functions, table, endpoint: storage.endpoint, echo };
    return await inWorld(options, async (world) => {
      try {
        await play(world, plot, hours);
      } catch (error) {
        world.book.problem(`the simulation itself failed: ${error instanceof Error ? error.stack : String(error)}`);
      }
      return mintReport(world, of, performance.now() - since);
    });
  } finally {
    await table.drop();
  }
}

async function play(world: World, plot: ReturnType<typeof plotOf>, hours: number): Promise<void> {
  const { scheduler, service, book, commits, promises, host, table } = world;
  const ref = { repo: REPO, targetBranch: "main" };
  const admin = await caller(world, "admin", ["read", "submit", "admin"]);
  const people = {
    admin,
    client: await caller(world, "client", ["read", "submit"]),
    foreigner: await caller(world, "foreigner", ["read", "submit", "admin"], "other"),
    reader: await caller(world, "reader", ["read"]),
    nobody: new Caller({ ...world, random: world.random("nobody"), token: "mlq_wrong" }),
  };
  service.start();
  const stop = traffic(world, people, ref, plot);
  await scheduler.run(hours * HOUR_MS);
  await stop();
  if (scheduler.isStopped) return;
  await calmDown(world, admin, ref);
  if (scheduler.isStopped) return;
  promises.kept(commits.ended);
  await scheduler.really(() => new EndJudge(book, commits, host).judge(table));
}

type Scopes = Parameters<ReturnType<typeof tokenStore>["add"]>[0]["scopes"];

async function caller(world: World, name: string, scopes: Scopes, org: string = ORG): Promise<Caller> {
  const random = world.random(`caller ${name}`);
  const token = mintToken((length) => bytes(random, length));
  const added = { org: orgSlug(org), tokenId: name, hash: hashToken(token), name, scopes, enumCase: "upper" } as const;
  const createdAt = world.scheduler.now();
  await world.scheduler.really(() => tokenStore(world.table).add({ ...added, createdAt, expiresAt: null }));
  return new Caller({ ...world, random, token });
}

const bytes = (random: Random, length: number): Uint8Array => Uint8Array.from({ length }, () => random.int(0, 255));
