/** The end of a simulation: nothing goes wrong any more, and everything must come to its end by itself. */
import { HOUR_MS } from "../../shared/kernel/time.ts";
import { changeOf, type HostPr } from "./host/pull-requests.ts";
import type { Caller } from "./people/caller.ts";
import type { Ref } from "./people/clients.ts";
import { during, live, untilSettled } from "./settled.ts";
import type { World } from "./world.ts";

/** Much more than anything takes of which somebody is waiting for the end. */
const CALM_MS_MAX = 18 * HOUR_MS;
const CLEARED_EVERY_MINUTES = 10;

export async function calmDown(world: World, admin: Caller, ref: Ref): Promise<void> {
  const { book, host, hurry, scheduler } = world;
  book.say("from here on nothing goes wrong");
  noMoreFaults(world);
  hurry();
  if (host.target.content === null) host.target.restore();
  host.target.push({ required: ["unit"] });
  const settings = { deleteRequiredStatuses: true, testingTimeoutMinutes: 60 };
  await during(world, admin.sure("update-queue", { ...ref, ...settings, state: "RUNNING", clearHold: true }));
  const shown = await during(world, admin.sure("get-queue", ref));
  if (!JSON.stringify(shown?.body).includes('"testingTimeoutMinutes":60'))
    book.problem("a change of the queue was acknowledged, and is not shown");
  const clear = async (minute: number): Promise<void> => {
    const isHeld = (world.commits.last?.state.holds.length ?? 0) > 0;
    if (minute % CLEARED_EVERY_MINUTES === 0 && isHeld)
      await during(world, admin.sure("update-queue", { ...ref, clearHold: true }));
  };
  await untilSettled(world, CALM_MS_MAX, clear);
  if (scheduler.isStopped) return;
  judgeWaiting(world);
  await empty(world, admin, ref);
}

export function noMoreFaults({ faults, weather, hostWeather }: World): void {
  faults.end();
  weather.stormUntil = 0;
  hostWeather.outUntil = 0;
}

/** Takes out who waits for somebody. */
export async function empty(world: World, admin: Caller, ref: Ref): Promise<void> {
  for (const { prNumber } of live(world))
    await during(world, admin.sure("cancel-pull-request", { ...ref, pr: { number: prNumber } }));
  await untilSettled(world, CALM_MS_MAX, async () => {});
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
