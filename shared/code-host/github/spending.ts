/**
 * Keeps an installation within its limits, together with every other process that uses it. What writes is counted in the
 * table before it is sent; reads are gathered here, and counted with the next write or when they are many.
 */
import { type Clock, type EpochMs, epochMs, later, MINUTE_MS, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import { HostUnavailable, NotNow } from "../port.ts";
import { allowedAt, capsOf } from "./budget.ts";
import type { Budget, BudgetState, RequestsLeft, Spent } from "./port.ts";

export type Spending = {
  /** Resolves when the call may be sent. Throws HostUnavailable until when not, or NotNow where it can be done without. */
  readonly spend: (cost: Spent, isSpare: boolean) => Promise<void>;
  readonly told: (left: RequestsLeft) => void;
  readonly wait: (until: EpochMs) => Promise<void>;
};

/** What others spent is looked at so often. */
const KNOWN_MS = 10 * SECOND_MS;
/** So many points of reads are gathered. */
const GATHERED_MAX = 25;

const NOTHING: Spent = { points: 0, content: 0 };
const plus = (a: Spent, b: Spent): Spent => ({ points: a.points + b.points, content: a.content + b.content });

export function createSpending(budget: Budget, clock: Clock): Spending {
  let known: { readonly state: BudgetState; readonly at: EpochMs } | undefined;
  let reading: Promise<BudgetState> | undefined;
  /** Since the table was read: those that it has, and those that it has not. */
  let counted = NOTHING;
  let gathered = NOTHING;
  let waitUntil = epochMs(0);
  let left: RequestsLeft | null = null;

  const read = async (): Promise<BudgetState> => {
    const at = clock();
    const state = await budget.read(at);
    known = { state, at };
    counted = NOTHING;
    reading = undefined;
    return state;
  };
  const isFresh = (at: EpochMs): boolean =>
    clock() < later(at, KNOWN_MS) && Math.floor(clock() / MINUTE_MS) === Math.floor(at / MINUTE_MS);
  const fresh = (): Promise<BudgetState> => {
    if (known !== undefined && isFresh(known.at)) return Promise.resolve(known.state);
    reading ??= read().finally(() => (reading = undefined));
    return reading;
  };
  const present = async (): Promise<BudgetState> => {
    const { minute, hour, ...state } = await fresh();
    const own = plus(counted, gathered);
    return {
      minute: { before: minute.before, now: plus(minute.now, own) },
      hour: { before: hour.before, now: plus(hour.now, own) },
      waitUntil: epochMs(Math.max(waitUntil, state.waitUntil)),
      requests: left ?? state.requests,
    };
  };
  const write = async (cost: Spent, state: BudgetState | null): Promise<boolean> => {
    const reads = gathered;
    gathered = NOTHING;
    const spent = plus(reads, cost);
    const now = clock();
    const done = await budget.spend(now, spent, left, state === null ? null : capsOf(state, spent, now));
    if (done === "SPENT") counted = plus(counted, spent);
    else gathered = plus(gathered, reads);
    return done === "SPENT";
  };
  return {
    spend: async (cost, isSpare) => {
      const state = await present();
      const until = allowedAt(state, cost, isSpare, clock());
      if (until > clock()) throw refusal(until, state.waitUntil, isSpare);
      const isRead = cost.points === 1;
      if (isRead) {
        if (gathered.points + cost.points < GATHERED_MAX) gathered = plus(gathered, cost);
        else await write(cost, null);
      } else if (!(await write(cost, state))) {
        // Others spent what was left.
        known = undefined;
        const now = await present();
        throw refusal(allowedAt(now, cost, isSpare, later(clock(), SECOND_MS)), now.waitUntil, isSpare);
      }
    },
    told: (now) => void (left = now),
    wait: async (until) => {
      waitUntil = epochMs(Math.max(waitUntil, until));
      await budget.wait(clock(), until);
    },
  };
}

function refusal(until: EpochMs, waitUntil: EpochMs, isSpare: boolean): HostUnavailable {
  const at = toRfc3339(until);
  const isTold = until <= waitUntil;
  const what = isTold ? "GitHub asked us to wait" : "what GitHub lets an App do is used up";
  if (isSpare)
    return new NotNow(
      isTold ? `${what} until ${at}` : `what is left of GitHub's limits is kept for the queue until ${at}`,
      until,
      isTold,
    );
  return new HostUnavailable(`${what} until ${at}`);
}

/** For a server that limits nobody: nothing is counted, only what GitHub says is kept to, in this process. */
export function asTold(clock: Clock): Spending {
  let waitUntil = epochMs(0);
  let requests: RequestsLeft | null = null;
  const unused = { before: NOTHING, now: NOTHING };
  return {
    spend: async (cost, isSpare) => {
      const until = allowedAt({ minute: unused, hour: unused, waitUntil, requests }, cost, isSpare, clock());
      if (until > clock()) throw refusal(until, waitUntil, isSpare);
    },
    told: (left) => void (requests = left),
    wait: async (until) => void (waitUntil = epochMs(Math.max(waitUntil, until))),
  };
}
