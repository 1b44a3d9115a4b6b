/** Looks at the queue over HTTP, again and again, tells what moved, and keeps it for the judgement at the end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, PullRequest } from "./client.ts";
import { patience } from "./patience.ts";
import { hasEnded, type SamplePullRequest } from "./scene.ts";
import type { Move, Row, Screen } from "./screen.ts";

/** Those that were submitted, by number. */
export type Seen = ReadonlyMap<number, PullRequest>;

export type Watch = {
  /** Waits until it holds; what it waits for is said when it never does. */
  readonly until: (what: string, holds: (seen: Seen) => boolean | Promise<boolean>) => Promise<void>;
  readonly look: () => Promise<Seen>;
  /** So far, of all pull requests, in the order of time. */
  readonly moves: () => readonly Move[];
  /** What was answered about each pull request while it had not ended: one sentence for each state it was seen in. */
  readonly told: () => ReadonlyMap<number, readonly Told[]>;
};

export type Told = { readonly state: string; readonly summary: string };

const LOOK_EVERY_MS = 250;
/** How long nothing may move. The longest test takes seconds on two idle cores; only a broken promise takes this long. */
const STANDSTILL_MS = 180_000;

export function createWatch(client: Client, screen: Screen, pullRequests: readonly SamplePullRequest[]): Watch {
  const numbers = pullRequests.map((one) => one.number);
  const moves: Move[] = [];
  const told = new Map<number, readonly Told[]>();
  let last: Seen = new Map();

  const readMoves = async (number: number): Promise<readonly Move[]> => {
    const { timeline = [] } = await client.withTimeline(number);
    const known = moves.filter((move) => move.number === number).length;
    return timeline
      .toReversed()
      .slice(known)
      .map((move) => ({ ...move, number, at: Date.parse(move.at) }));
  };

  const ask = async ({ prNumber }: PullRequest): Promise<void> => {
    const { state, summary } = await client.explain(prNumber);
    if (!hasEnded(state)) told.set(prNumber, [...(told.get(prNumber) ?? []), { state, summary }]);
  };

  const look = async (): Promise<Seen> => {
    const { pullRequests: found } = await client.pullRequests(numbers);
    const seen = new Map(found.map((pr) => [pr.prNumber, pr]));
    const changed = found.filter((pr) => last.get(pr.prNumber)?.stateChangedAt !== pr.stateChangedAt);
    const fresh: Move[] = [];
    for (const pr of changed) fresh.push(...(await readMoves(pr.prNumber)));
    for (const pr of changed) if (!hasEnded(pr.state)) await ask(pr);
    for (const move of fresh.toSorted((a, b) => a.at - b.at)) {
      moves.push(move);
      screen.moved(move);
    }
    last = seen;
    if (screen.live) screen.rows(await queueLine(client), await rowsOf(client, pullRequests, seen));
    return seen;
  };

  const until: Watch["until"] = async (what, holds) => {
    const patient = patience(STANDSTILL_MS);
    for (let seen = await look(); !(await holds(seen)); seen = await look()) {
      if (patient.isOver([...seen])) throw new Error(`waited in vain for this: ${what}`);
      await sleep(LOOK_EVERY_MS);
    }
  };

  return { until, look, moves: () => moves.toSorted((a, b) => a.at - b.at), told: () => told };
}

async function queueLine(client: Client): Promise<string> {
  const { state, stateReason, concurrency } = await client.getQueue();
  return `The queue is ${state}${stateReason === null ? "" : ` (${stateReason})`}, at most ${concurrency} test runs at once`;
}

async function rowsOf(client: Client, wanted: readonly SamplePullRequest[], seen: Seen): Promise<readonly Row[]> {
  return Promise.all(
    wanted.map(async ({ number, title }) => {
      const pr = seen.get(number);
      if (pr === undefined) return { number, title, state: "", why: "not submitted yet" };
      const why = pr.conclusion?.message ?? (await client.explain(number)).waitsFor.join("; ");
      return { number, title, state: pr.state, why };
    }),
  );
}
