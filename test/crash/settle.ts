/** After the last crash: until everything has come to its end, or says what it waits for. */
import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "../../infra/local/demo/patience.ts";
import type { Api, PullRequest } from "./api.ts";
import { blockersOf } from "./entries.ts";
import { readQueue } from "./traffic.ts";

/** A lease of whoever died in the middle of a landing, and all that waited for it, on a busy machine: nothing moves meanwhile. */
const STANDSTILL_MS = 300_000;
/** What a worker had taken when it died is taken over when its time is up, which nobody waits for. */
const QUIET_MS = 150_000;

/** Waits until nothing moves any more. What is live after that is stuck, or waits for somebody by name. */
export async function settle(api: Api): Promise<readonly string[]> {
  await api.sure("/updateQueue", { state: "RUNNING", reason: "the end" });
  let live: readonly PullRequest[] = [];
  for (const patient = patience(STANDSTILL_MS); !patient.isOver(live); await sleep(500)) {
    live = (await readQueue(api))?.enqueuedPullRequests ?? live;
    if (live.every((one) => one.state === "NOT_READY")) break;
  }
  return (await Promise.all(live.map((one) => unexplained(api, one)))).flat();
}

async function unexplained(api: Api, { prNumber, state }: PullRequest): Promise<readonly string[]> {
  const blockers = await blockersOf(api, prNumber);
  if (state !== "NOT_READY") return [`#${prNumber} is still ${state}: ${blockers.join("; ") || "no blocker is named"}`];
  return blockers.length === 0 ? [`#${prNumber} is NOT_READY and nobody says why`] : [];
}

/** Takes out what waits for somebody, so that the queue is empty. */
export async function empty(api: Api): Promise<void> {
  const patient = patience(STANDSTILL_MS);
  for (let live = await readQueue(api); !patient.isOver(live?.enqueuedPullRequests); live = await readQueue(api)) {
    if (live?.enqueuedPullRequests.length === 0) return;
    for (const { prNumber } of live?.enqueuedPullRequests ?? [])
      await api.sure("/cancelPullRequest", { pr: { number: prNumber } });
    await sleep(500);
  }
}

/** What is left when the queue has been empty for long enough to tidy up. */
export async function untilNothingIsLeft(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  for (const patient = patience(QUIET_MS); ; await sleep(500)) {
    const left = await look();
    if (left.length === 0 || patient.isOver(left)) return left;
  }
}
