/** Several clients at once who keep the queue busy, and one operator. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Answer, type Api, type PullRequest, pullRequest } from "./api.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";
import type { Sample } from "./sample.ts";

export type Traffic = { readonly stop: () => Promise<void> };

const CLIENTS = 4;
/** More than that waits long and is tested often. */
const LIVE_MAX = 8;
/** Clients look at the newest ones. */
const RECENT = 25;

const queue = z.object({ state: z.string(), enqueuedPullRequests: z.array(pullRequest) });
export type Queue = z.infer<typeof queue>;

export async function readQueue(api: Api): Promise<Queue | undefined> {
  const answer = await api.once("/getQueue", {});
  return answer?.status === 200 ? queue.parse(answer.body) : undefined;
}

type Client = { readonly api: Api; readonly random: Random; readonly sample: Sample; readonly ledger: Ledger };

const acknowledged = (answer: Answer | undefined): PullRequest | undefined =>
  answer?.status === 200 ? pullRequest.parse(answer.body) : undefined;

/** Half of the clients are careful: they send again until they know. */
const send = ({ api, random }: Client, path: string, body: object): Promise<Answer | undefined> =>
  random.chance(0.5) ? api.sure(path, body) : api.once(path, body);

async function submit(client: Client, prNumber: number): Promise<void> {
  const urgent = client.random.chance(0.08);
  const pr = acknowledged(
    await send(client, "/submitPullRequest", { pr: { number: prNumber }, ...(urgent ? { priority: "urgent" } : {}) }),
  );
  if (pr !== undefined) client.ledger.acknowledged(pr, { urgent });
}

async function cancel(client: Client, prNumber: number): Promise<void> {
  const pr = acknowledged(await send(client, "/cancelPullRequest", { pr: { number: prNumber } }));
  if (pr !== undefined) client.ledger.acknowledged(pr, { cancel: true });
}

async function restart(client: Client, prNumber: number): Promise<void> {
  const pr = acknowledged(await send(client, "/restartTestsOnPullRequest", { pr: { number: prNumber } }));
  if (pr !== undefined) client.ledger.acknowledged(pr, {});
}

/** Little of it upsets what is being tested, or nothing would ever land. */
async function act(client: Client, live: number): Promise<void> {
  const { random, sample, ledger } = client;
  const { numbers } = sample;
  const recent = numbers.at(-Math.min(numbers.length, random.int(0, RECENT) + 1));
  if (recent === undefined || (live < LIVE_MAX && random.chance(0.6))) return submit(client, await sample.open());
  const dice = random.next();
  if (dice < 0.25) return submit(client, recent);
  if (dice < 0.33) return cancel(client, recent);
  if (dice < 0.38) return restart(client, recent);
  if (dice < 0.41) return sample.push(recent);
  if (dice < 0.42) {
    const made = sample.pushTarget();
    if (made !== undefined) ledger.pushed.add(made);
  } else if (dice < 0.5 && sample.comment !== undefined) await sample.comment(recent, "/why");
  else if (dice < 0.75) await client.api.once("/explainPullRequest", { pr: { number: recent } });
  else await client.api.once("/getMergeQueueTestingDetails", {});
}

/** What was acknowledged last is what the queue says: nobody else changes its state. */
async function operate({ api, random, ledger }: Client, stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    await sleep(random.int(2_000, 6_000));
    for (const state of ["PAUSED", "RUNNING"]) {
      const answer = await api.sure("/updateQueue", { state, reason: "a pause" });
      const now = await readQueue(api);
      if (answer.status === 200 && now !== undefined && now.state !== state)
        ledger.failures.push(`the queue was set to ${state} and says ${now.state}`);
      await sleep(random.int(200, 1_500));
    }
  }
}

export function startTraffic(api: Api, sample: Sample, ledger: Ledger, randoms: readonly Random[]): Traffic {
  const ending = new AbortController();
  let live = 0;
  const stopped = (): boolean => ending.signal.aborted;
  const client = (random: Random): Client => ({ api, random, sample, ledger });

  const keepActing = async (random: Random): Promise<void> => {
    while (!stopped()) {
      await act(client(random), live);
      await sleep(random.int(100, 1_200));
    }
  };
  const watch = async (): Promise<void> => {
    while (!stopped()) {
      live = (await readQueue(api))?.enqueuedPullRequests.length ?? live;
      await sleep(300);
    }
  };
  const [first, ...others] = randoms;
  const running = [watch(), ...others.slice(0, CLIENTS).map(keepActing)];
  if (first !== undefined) running.push(operate(client(first), stopped));
  const all = Promise.all(running);
  all.catch((error: unknown) => ledger.failures.push(`a client gave up: ${String(error)}`));
  return {
    stop: async () => {
      ending.abort();
      await all.catch(() => {});
    },
  };
}

/** One submission whose test never ends at a time, over and over: so that reads after a deadline happen. */
export function startSlowTraffic(api: Api, ledger: Ledger, count: number): Traffic {
  const ending = new AbortController();
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: ending.signal }).catch(() => {});
  const keepSubmitting = async (prNumber: number): Promise<void> => {
    await pause(prNumber * 12_000);
    while (!ending.signal.aborted) {
      await api.once("/submitPullRequest", { pr: { number: prNumber } });
      await pause(5_000);
    }
  };
  const all = Promise.all(Array.from({ length: count }, (_, at) => keepSubmitting(at + 1)));
  all.catch((error: unknown) => ledger.failures.push(`a client gave up: ${String(error)}`));
  return {
    stop: async () => {
      ending.abort();
      await all.catch(() => {});
    },
  };
}
