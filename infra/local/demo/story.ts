/** The first scene, step by step: eleven pull requests in one line. It only acts and remembers; `promises.ts` judges. */
import { setTimeout as sleep } from "node:timers/promises";
import { judgeBakery } from "./promises.ts";
import { BAKERY, PR, RESOLUTION } from "./sample.ts";
import {
  areMergeable,
  explainNow,
  explainLive,
  inState,
  type Judge,
  type Scene,
  type Stage,
  untilAllEnded,
} from "./scene.ts";
import type { Seen } from "./watch.ts";

export type Remembered = {
  /** The target branch at the beginning and at the end of the pause, and when those were. */
  readonly pause: { readonly from: number; readonly to: number; readonly tipAt: readonly [string, string] };
  /** Why the one that was submitted meanwhile was not admitted. */
  readonly lateWhilePaused: string;
  /** Why the conflicting one could not be merged any more. */
  readonly conflict: string;
};

const CONCURRENCY = 4;
const PAUSE_MS = 3_000;
const STILL_MS = 1_000;

export const ONE_LINE: Scene = { sample: BAKERY, title: "One line: each is tested on top of all ahead of it", play };

async function play(stage: Stage): Promise<Judge> {
  await begin(stage);
  await cancelOne(stage);
  await explainNow(stage);
  await hurry(stage);
  const { pause, lateWhilePaused } = await pauseAndResume(stage);
  const conflict = await rebaseConflicting(stage);
  await untilAllEnded(stage);
  return (evidence) => judgeBakery(evidence, { pause, lateWhilePaused, conflict });
}

/** Everybody is in before it begins, so that the order is the same on a fast machine and on a busy one. */
async function begin({ client, screen, watch }: Stage): Promise<void> {
  await client.createQueue({ mode: "single", concurrency: CONCURRENCY, state: "paused" });
  screen.say(`The queue is made: single mode, ${CONCURRENCY} test runs at once, one repeat of failures. It is paused.`);
  const first = BAKERY.pullRequests.filter(({ number }) => number < PR.urgent);
  screen.say(`${first.length} pull requests are submitted: #1 to #${first.length}.`);
  for (const { number } of first) await client.submit(number);
  await watch.until("all of them can be merged", areMergeable(...first.map(({ number }) => number)));
  screen.say("The queue runs.");
  await client.updateQueue({ state: "running" });
}

async function cancelOne({ client, screen, watch }: Stage): Promise<void> {
  const number = PR.cancelled;
  await watch.until(`#${number} is being tested`, inState(number, "TESTING"));
  screen.say(`#${number} is cancelled: its new test takes too long. Those behind it are tested again without it.`);
  await client.cancel(number);
}

async function hurry(stage: Stage): Promise<void> {
  const { client, screen, watch } = stage;
  screen.say(`#${PR.urgent} is submitted as urgent: it goes ahead of all that are not landing already.`);
  await client.submit(PR.urgent, { priority: "urgent" });
  await watch.until(`#${PR.urgent} is admitted`, (seen) => !inState(PR.urgent, "NOT_READY")(seen));
  await explainLive(stage, PR.urgent);
  await watch.until(`#${PR.urgent} has landed`, inState(PR.urgent, "MERGED"));
}

async function pauseAndResume(stage: Stage) {
  const { client, screen, watch, repository } = stage;
  await client.updateQueue({ state: "paused", reason: "the demo shows a pause" });
  screen.say("The queue is paused: runs in progress end, nothing starts and nothing lands.");
  // A landing that was sent before the pause is finished.
  const before = await stillTip(stage);
  const from = Date.now();
  screen.say(`#${PR.late} is submitted to the paused queue.`);
  await client.submit(PR.late);
  const until = performance.now() + PAUSE_MS;
  const canBeMerged = areMergeable(PR.late);
  await watch.until("the pause is over", (seen) => performance.now() >= until && canBeMerged(seen));
  const lateWhilePaused = (await client.explain(PR.late)).summary;
  await explainLive(stage, PR.late);
  const after = await repository.tip();
  const to = Date.now();
  await client.updateQueue({ state: "running" });
  screen.say("The queue runs again.");
  const tipAt: readonly [string, string] = [before, after];
  return { pause: { from, to, tipAt }, lateWhilePaused };
}

/** The target branch once the queue is paused, nothing in it is landing, and the branch has not moved for a while. */
async function stillTip(stage: Stage): Promise<string> {
  let tip = await stage.repository.tip();
  let since = performance.now();
  await stage.watch.until("the target branch stands still", async (seen) => {
    const { state } = await stage.client.getQueue();
    const isLanding = state !== "PAUSED" || (await isAnybodyLanding(stage, seen));
    // Last: what was landing a moment ago has landed by now.
    const now = await stage.repository.tip();
    if (now !== tip || isLanding) since = performance.now();
    tip = now;
    return performance.now() - since >= STILL_MS;
  });
  return tip;
}

async function isAnybodyLanding({ client }: Stage, seen: Seen): Promise<boolean> {
  const passed = [...seen.values()].filter(({ state }) => state === "TESTS_PASSED");
  const told = await Promise.all(passed.map(({ prNumber }) => client.explain(prNumber)));
  return told.some(({ blockers }) => blockers.some(({ kind }) => kind === "LANDING"));
}

async function rebaseConflicting(stage: Stage): Promise<string> {
  const { client, screen, watch, repository } = stage;
  const { ahead, behind } = PR.conflicting;
  await watch.until(
    `#${behind} is not ready, since #${ahead} has landed`,
    (seen) => inState(ahead, "MERGED")(seen) && inState(behind, "NOT_READY")(seen) && isInConflict(seen, behind),
  );
  const { summary } = await client.explain(behind);
  await explainLive(stage, behind);
  await sleep(500);
  const one = BAKERY.pullRequests.find(({ number }) => number === behind);
  if (one !== undefined) await repository.rebase(one, RESOLUTION);
  await watch.look();
  screen.say(`The author of #${behind} has rebased it with git, settled the conflict, and pushed it.`);
  return summary;
}

const isInConflict = (seen: Seen, number: number): boolean =>
  seen.get(number)?.readiness.gitHubMergeability === "NOT_MERGEABLE";
