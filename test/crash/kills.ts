/** Which kills there are, in which order, and carrying them out. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CrashPoint } from "../../shared/queue/app/ports.ts";
import type { Random } from "./random.ts";
import { descendantsOf, kill } from "./processes.ts";
import type { Life, Site } from "./site.ts";

export type Kill =
  | { readonly at: CrashPoint; readonly passing: number; readonly attempt: number }
  | { readonly at: "any moment"; readonly afterMs: number }
  | { readonly at: "start"; readonly afterMs: number };

export type Tally = {
  readonly server: Map<string, number>;
  /** Points that were waited for in vain. */
  readonly missed: Map<string, number>;
  table: number;
  /** Kills that took everything along which the server had started: git in the middle of a write, checks, the table. */
  withAll: number;
  /** Ends that nobody brought about. */
  readonly byItself: string[];
};

const TIMES_EACH = 3;
/** Beside those at named points, when all of them are wanted. */
const RANDOM_MIN = 15;
const ATTEMPTS_MAX = 5;

export type Wished = {
  readonly kills: number;
  /** Those that this host has. */
  readonly points: readonly CrashPoint[];
  readonly only?: string | undefined;
};

/** All points three times if there are kills enough; else as many different ones as there are kills. */
export function planOf({ kills, points, only }: Wished, random: Random): readonly Kill[] {
  const wanted = points.find((point) => point === only);
  if (only !== undefined && wanted === undefined)
    throw new Error(`there is no point "${only}"; there are ${points.join(", ")}`);
  const isWhole = kills >= 50;
  // A short run takes what comes soon, and does not insist.
  const at = (point: CrashPoint): Kill =>
    isWhole || only !== undefined
      ? { at: point, passing: random.int(1, passingsMax(point)), attempt: 1 }
      : { at: point, passing: 1, attempt: ATTEMPTS_MAX };
  if (wanted !== undefined) return Array.from({ length: kills }, () => at(wanted));
  const every = Array.from({ length: TIMES_EACH }, () => [...points]).flat();
  const often = points.filter((point) => isQuick(point) && !RARE.has(point));
  const named = isWhole ? every : random.shuffled(often).slice(0, Math.ceil(kills / 2));
  const left = isWhole ? Math.max(kills - named.length, RANDOM_MIN) : kills - named.length;
  const others = Array.from({ length: left }, (_, index): Kill => {
    const early = index % 4 === 3;
    return early
      ? { at: "start", afterMs: random.int(50, 1_000) }
      : { at: "any moment", afterMs: random.int(100, 4_000) };
  });
  // One after the other: what was interrupted is done anew at the next start, so the second need not wait.
  return [
    ...random.shuffled([...named.filter(isQuick).map(at), ...others]),
    ...named.filter((point) => !isQuick(point)).map(at),
  ];
}

/** Points of the plan that were not reached as often as they have to be. */
export function tooSeldom(plan: readonly Kill[], { server }: Tally): readonly string[] {
  const planned = (point: CrashPoint): number => plan.filter((one) => one.at === point).length;
  const all = [...new Set(plan.flatMap((one) => ("passing" in one ? [one.at] : [])))];
  const seldom = all.filter((point) => planned(point) >= TIMES_EACH && (server.get(point) ?? 0) < TIMES_EACH);
  return seldom.map((point) => `the point ${point} was reached only ${server.get(point) ?? 0} times`);
}

/** A read after a deadline needs a test that timed out: not in a short run. */
const isQuick = (point: CrashPoint): boolean => point !== "effect:read-statuses:done";
const patienceMs = (point: CrashPoint): number => (isQuick(point) ? 20_000 : 90_000);
/** Some happen once in several seconds. */
const RARE = new Set<CrashPoint>([
  "effect:land:done",
  "effect:repeat-checks:done",
  "host:target-moved",
  "host:merge-noted",
  "ask:after-write",
]);
const passingsMax = (point: CrashPoint): number => (!isQuick(point) ? 1 : RARE.has(point) ? 2 : 3);

type Parts = {
  readonly site: Site;
  readonly random: Random;
  readonly tally: Tally;
  readonly say: (line: string) => void;
};

const count = (map: Map<string, number>, what: string): void => void map.set(what, (map.get(what) ?? 0) + 1);

/** Kills that were not reached are tried again later, at the first passing. */
export async function carryOut(plan: readonly Kill[], parts: Parts): Promise<void> {
  const waiting = [...plan];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const reached = await once(next, parts);
    const label = "passing" in next ? `${next.at}:${next.passing}` : `${next.at} +${next.afterMs}`;
    parts.say(`${reached ? "killed at" : "never came to"} ${label}, ${waiting.length} to go`);
    if (reached) count(parts.tally.server, next.at);
    else count(parts.tally.missed, next.at);
    if (!reached && "attempt" in next && next.attempt < ATTEMPTS_MAX)
      waiting.push({ ...next, passing: 1, attempt: next.attempt + 1 });
  }
}

/** Starts the server, and sees it die. False when it had to be killed elsewhere than at the point. */
async function once(wanted: Kill, parts: Parts): Promise<boolean> {
  const { site } = parts;
  if ("passing" in wanted) {
    const life = site.start(`${wanted.at}:${wanted.passing}`);
    const ended = Promise.race([life.gone, pass(patienceMs(wanted.at))]);
    await Promise.all([ended, maybeTable(parts, life)]);
    const reached = life.isGone();
    await end(life);
    if (life.child.signalCode === "SIGKILL") return reached;
    parts.tally.byItself.push(`a server ended by itself: ${life.said()}`);
    return false;
  }
  const life = site.start();
  if (wanted.at === "any moment") await life.up;
  await Promise.all([pass(wanted.afterMs), maybeTable(parts, life)]);
  await endBoth(parts, life);
  return true;
}

/** The first start of all makes the token and the table: it is interrupted as well. */
export async function interruptFirstStart({ site, random, tally }: Parts): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    const life = site.start();
    await pass(random.int(200, 900));
    await end(life);
    count(tally.server, "first start");
  }
}

const pass = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });

/** The table's process alone, now and then: the server keeps running and starts it anew. */
async function maybeTable({ site, random, tally }: Parts, life: Life): Promise<void> {
  const [wanted, afterMs] = [random.chance(0.15), random.int(50, 1_500)];
  if (!wanted) return;
  await Promise.race([life.up.catch(() => {}), life.gone]);
  await Promise.race([pass(afterMs), life.gone]);
  if (!life.isGone() && site.killTable()) tally.table += 1;
}

/** Now and then the table goes with the server, a moment before or after it, or all that it started does. */
async function endBoth({ site, random, tally }: Parts, life: Life): Promise<void> {
  const dice = random.next();
  if (dice > 0.4 && dice < 0.7 && life.child.pid !== undefined) {
    const all = descendantsOf(life.child.pid);
    await end(life);
    for (const pid of all) kill(pid);
    tally.withAll += 1;
    return;
  }
  if (dice < 0.12 && site.killTable()) tally.table += 1;
  await end(life);
  if (dice > 0.88 && site.killTable()) tally.table += 1;
}

async function end(life: Life): Promise<void> {
  life.child.kill("SIGKILL");
  await life.gone;
}
