/**
 * Two lives of the service at one table and one code host, as Lambdas or two processes would be: both advance, both
 * perform, both sweep, while requests come in, claims run out and the clock jumps. What is promised holds all the same.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Wiring, wired } from "../../functions/wiring.ts";
import type { CodeHost, LandRequest } from "../../shared/code-host/port.ts";
import { orgSlug, type QueueKey, type RunId } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { type EpochMs, epochMs, later, MINUTE_MS, SECOND_MS } from "../../shared/kernel/time.ts";
import { advance } from "../../shared/queue/app/advance.ts";
import { perform } from "../../shared/queue/app/perform.ts";
import { createQueue, updateQueue } from "../../shared/queue/app/queues.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import { sweep } from "../../shared/queue/app/sweep.ts";
import { cancel, restart } from "../../shared/queue/app/wishes.ts";
import { scriptedHost } from "../bench/scripted-host.ts";
import { seeded } from "../crash/random.ts";
import type { Table } from "../../shared/table/client.ts";
import { eventually } from "../support/eventually.ts";

const PULL_REQUESTS = 14;
/** When all requests are made, time goes on with what is done: the slower the machine, the slower its clock. */
const TURN_MS = 2 * SECOND_MS;
const NOTHING = () => undefined;
const door = {
  grantUpload: async (): Promise<never> => Promise.reject(new Error("no uploads here")),
  readUpload: async () => undefined,
  grantPut: async () => "",
  removeUpload: async () => {},
};

/** The scripted host with a target that moves by compare-and-swap, answers that take their time, and a record of it. */
function aHost(chance: () => number) {
  const scripted = scriptedHost();
  const built = new Set<RunId>();
  const landings: LandRequest[] = [];
  const pause = () => sleep(chance() * 8);
  const slowly =
    <Args extends unknown[], Answer>(work: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      await pause();
      const answer = await work(...args);
      await pause();
      return answer;
    };
  const land: CodeHost["land"] = async (request) => {
    const read = await scripted.tip(request.repo, request.targetBranch, null, []);
    if (read === "MISSING") throw new Error("the target is never missing here");
    const before = landings.find((one) => one.commit === request.commit);
    if (before !== undefined)
      return { ok: true, value: { tip: { ...read.tip, sha: before.commit, tree: before.tree }, trees: "EQUAL" } };
    if (read.tip.sha !== request.expectedTip) return { ok: false, why: { kind: "TIP_MOVED" } };
    landings.push(request);
    return scripted.land(request);
  };
  const host: CodeHost = {
    ...scripted,
    pullRequest: slowly(scripted.pullRequest),
    tip: slowly(scripted.tip),
    buildRun: slowly((request) => {
      built.add(request.run);
      if (chance() < 0.8) scripted.passes(request.run);
      return scripted.buildRun(request);
    }),
    land: slowly(land),
  };
  return { host, landings, passAll: () => built.forEach((run) => scripted.passes(run)) };
}

/** What is left, what landed and what became of every pull request when all is over. */
export async function twoWriters(seed: number, table: Table) {
  const chance = seeded(seed).next;
  let now = epochMs(Date.now());
  let isClosing = false;
  let isOver = false;
  const clock = (): EpochMs => now;
  const { host, landings, passAll } = aHost(chance);
  const life = (): Wiring => ({
    ...wired({
      table,
      log: silentLog,
      blobs: { put: async () => {}, get: async () => undefined },
      uploads: door,
      hosts: () => host,
    }),
    clock,
  });
  const lives = [life(), life()] as const;
  const key: QueueKey = {
    org: orgSlug("local"),
    repo: { host: "git.local", owner: "acme", name: "app" },
    branch: "main",
  };
  await createQueue(lives[0], { key, repo: key.repo, patch: { concurrency: 4 }, by: "test" }, NOTHING);

  const worker = async (app: Wiring, until: () => boolean): Promise<void> => {
    while (!until()) {
      const waiting = await app.queues.waitingEffects(key, now);
      const effect = waiting[Math.floor(chance() * waiting.length)];
      const what = chance();
      if (what < 0.35 && effect !== undefined) await perform(app, key, effect);
      else if (what < 0.45) await sweep(app);
      else await advance(app, key);
      if (isClosing) now = later(now, TURN_MS);
      await sleep(1);
    }
  };
  const requests = async (): Promise<void> => {
    for (let at = 0; at < 60; at += 1) {
      const app = lives[Math.floor(chance() * 2)] ?? lives[0];
      const wish = { key, prNumber: 1 + Math.floor(chance() * PULL_REQUESTS), by: "test" };
      const what = chance();
      if (what < 0.6) await submit(app, { ...wish, priority: Math.floor(chance() * 4) * 50 }, NOTHING);
      else if (what < 0.7) await cancel(app, wish, NOTHING);
      else if (what < 0.85) await restart(app, wish, NOTHING);
      else await updateQueue(app, { key, patch: { concurrency: 1 + Math.floor(chance() * 6) }, by: "test" }, NOTHING);
      // Claims run out while their work is under way.
      now = later(now, chance() < 0.15 ? 3 * MINUTE_MS : SECOND_MS);
      await sleep(chance() * 10);
    }
  };
  const workers = [0, 1, 0, 1].map((at) => worker(lives[at] ?? lives[0], () => isOver));
  await requests();
  isClosing = true;
  const left = (): ReturnType<(typeof lives)[0]["queues"]["view"]> => {
    passAll();
    return lives[0].queues.view(key);
  };
  await eventually(left, (queue) => queue?.entries.length === 0, { what: "the end of every pull request" });
  isOver = true;
  await Promise.all(workers);
  const queue = await lives[0].queues.view(key);
  const submitted = await lives[0].queues.submissions(
    key,
    Array.from({ length: PULL_REQUESTS }, (_, at) => at + 1),
  );
  return { queue, landings, submitted: [...submitted.values()] };
}
