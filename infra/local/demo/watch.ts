/** Looks at the queue over HTTP, again and again, tells what moved, and keeps it for the judgement at the end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, PullRequest } from "./client.ts";
import { PULL_REQUESTS } from "./sample.ts";
import type { Move, Row, Screen } from "./screen.ts";

/** Those that were submitted, by number. */
export type Seen = ReadonlyMap<number, PullRequest>;

export type Watch = {
  /** Waits until it holds; what it waits for is said when it never does. */
  readonly until: (what: string, holds: (seen: Seen) => boolean | Promise<boolean>) => Promise<void>;
  readonly look: () => Promise<Seen>;
  /** So far, of all pull requests, in the order of time. */
  readonly moves: () => readonly Move[];
};

const LOOK_EVERY_MS = 250;
/** Of the whole demo, which takes a quarter of a minute on two idle cores: only a promise that is broken takes so long. */
const PATIENCE_MS = 240_000;
const ENDED: ReadonlySet<string> = new Set(["MERGED", "FAILED", "CANCELLED"]);
export const hasEnded = (pr: PullRequest): boolean => ENDED.has(pr.state);

const numbers = PULL_REQUESTS.map((one) => one.number);

export function createWatch(client: Client, screen: Screen): Watch {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const moves: Move[] = [];
  let last: Seen = new Map();

  const readMoves = async (number: number): Promise<readonly Move[]> => {
    const { timeline = [] } = await client.withTimeline(number);
    const known = moves.filter((move) => move.number === number).length;
    return timeline
      .toReversed()
      .slice(known)
      .map(({ from, to, message, at }) => ({ number, from, to, message, at: Date.parse(at) }));
  };

  const look = async (): Promise<Seen> => {
    const { pullRequests } = await client.pullRequests(numbers);
    const seen = new Map(pullRequests.map((pr) => [pr.prNumber, pr]));
    const changed = pullRequests.filter((pr) => last.get(pr.prNumber)?.stateChangedAt !== pr.stateChangedAt);
    const fresh: Move[] = [];
    for (const pr of changed) fresh.push(...(await readMoves(pr.prNumber)));
    for (const move of fresh.toSorted((a, b) => a.at - b.at)) {
      moves.push(move);
      screen.moved(move);
    }
    last = seen;
    if (screen.live) screen.rows(await queueLine(client), await rowsOf(client, seen));
    return seen;
  };

  const until: Watch["until"] = async (what, holds) => {
    while (!(await holds(await look()))) {
      if (performance.now() > giveUpAt) throw new Error(`waited in vain for this: ${what}`);
      await sleep(LOOK_EVERY_MS);
    }
  };

  return { until, look, moves: () => moves.toSorted((a, b) => a.at - b.at) };
}

async function queueLine(client: Client): Promise<string> {
  const { state, stateReason, concurrency } = await client.getQueue();
  return `The queue is ${state}${stateReason === null ? "" : ` (${stateReason})`}, at most ${concurrency} test runs at once`;
}

async function rowsOf(client: Client, seen: Seen): Promise<readonly Row[]> {
  return Promise.all(
    PULL_REQUESTS.map(async ({ number, title }) => {
      const pr = seen.get(number);
      if (pr === undefined) return { number, title, state: "", why: "not submitted yet" };
      const why = pr.conclusion?.message ?? (await client.explain(number)).waitsFor.join("; ");
      return { number, title, state: pr.state, why };
    }),
  );
}
