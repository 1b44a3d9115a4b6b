/** The end of a simulation: nothing goes wrong any more, and everything must come to its end by itself. */
import { HOUR_MS, MINUTE_MS } from "../../shared/kernel/time.ts";
import type { Entry } from "../../shared/queue/engine/types.ts";
import { queueStore } from "../../shared/table/queue-store.ts";
import { changeOf, type HostPr } from "./host/pull-requests.ts";
import type { Caller } from "./people/caller.ts";
import type { Ref } from "./people/clients.ts";
import { QUEUE, type World } from "./world.ts";

/** Much more than anything takes of which somebody is waiting for the end. */
const CALM_MS_MAX = 18 * HOUR_MS;
const CLEARED_EVERY_MS = 10 * MINUTE_MS;

export async function calmDown(world: World, admin: Caller, ref: Ref): Promise<void> {
  const { book, faults, scheduler, weather, hostWeather, host, hurry } = world;
  book.say("from here on nothing goes wrong");
  faults.end();
  weather.stormUntil = 0;
  hostWeather.outUntil = 0;
  hurry();
  if (host.target.content === null) host.target.restore();
  host.target.push({ required: ["unit"] });
  const settings = { deleteRequiredStatuses: true, testingTimeoutMinutes: 60 };
  await during(world, admin.sure("update-queue", { ...ref, ...settings, state: "RUNNING", clearHold: true }));
  await untilSettled(world, admin, ref);
  if (scheduler.isStopped) return;
  judgeWaiting(world);
  for (const { prNumber } of live(world))
    await during(world, admin.sure("cancel-pull-request", { ...ref, pr: { number: prNumber } }));
  await untilSettled(world, admin, ref);
}

/** Lets the world go on until somebody has an answer. */
async function during<T>(world: World, work: Promise<T>): Promise<T | undefined> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  await world.scheduler.run(HOUR_MS, () => isDone);
  return isDone ? done : undefined;
}

const live = ({ commits }: World): readonly Entry[] => [...(commits.last?.state.entries.values() ?? [])];

async function untilSettled(world: World, admin: Caller, ref: Ref): Promise<void> {
  const { scheduler, book } = world;
  const until = scheduler.now() + CALM_MS_MAX;
  for (let round = 1; scheduler.now() < until; round += 1) {
    await scheduler.run(MINUTE_MS);
    if (scheduler.isStopped) return;
    if (await isSettled(world)) return;
    if ((round * MINUTE_MS) % CLEARED_EVERY_MS === 0 && (world.commits.last?.state.holds.length ?? 0) > 0)
      await during(world, admin.sure("update-queue", { ...ref, clearHold: true }));
  }
  const left = live(world).map((entry) => `#${entry.prNumber} ${entry.state}`);
  book.problem(`it does not come to rest: ${left.join(", ")}`);
}

/** Nobody is waiting but those who wait for somebody outside, and nothing is on its way. */
async function isSettled(world: World): Promise<boolean> {
  const { commits, promises, scheduler, table } = world;
  const ids = new Set<string>(live(world).map((entry) => entry.id));
  if (live(world).some((entry) => entry.state !== "NOT_READY")) return false;
  if ([...promises.submitted.keys()].some((id) => !ids.has(id) && !commits.ended.has(id as Entry["id"]))) return false;
  const queues = queueStore(table);
  return scheduler.really(async () => {
    const queue = await queues.load(QUEUE);
    const effects = await queues.waitingEffects(QUEUE, Number.POSITIVE_INFINITY as never);
    return queue?.inbox.length === 0 && queue.entries.every((one) => one.seen) && effects.length === 0;
  });
}

/** Who still waits to be admitted must lack something that only people can mend. */
function judgeWaiting(world: World): void {
  const { host, book } = world;
  for (const { prNumber, state } of live(world)) {
    const pr = host.prs.get(prNumber);
    if (state === "NOT_READY" && pr !== undefined && isReady(world, pr))
      book.problem(`#${prNumber} waits to be admitted, and nothing is missing`);
  }
}

function isReady({ host, commits, promises }: World, pr: HostPr): boolean {
  const isMergeable = pr.obstacle === null && host.conflictOf(pr) === undefined;
  const { mapsPaths } = host.target.configAt(host.target.content ?? []);
  const isPlaced = commits.last?.state.mode !== "PARALLEL" || mapsPaths || promises.hasTargets(changeOf(pr));
  return pr.state === "OPEN" && !pr.isDraft && pr.baseBranch === "main" && isMergeable && isPlaced;
}
