/** What can be made to go wrong, by order: requests that fail, are slow, limited or unanswered; webhooks in disorder. */
import { EventEmitter, once } from "node:events";

export type RateLimit = {
  /** The hourly budget is used up, or GitHub finds the pace too quick. */
  readonly kind: "PRIMARY" | "SECONDARY";
  readonly status?: 403 | 429;
  /** Secondary: seconds in `retry-after`. Primary: seconds until the budget is new. */
  readonly seconds?: number;
  /** How many requests are refused; one if nothing else is said. */
  readonly requests?: number;
  readonly match?: RegExp;
};

/** `match` is held against `METHOD /path`. */
type Planned = { left: number; readonly match: RegExp | undefined; readonly fault: Fault };

export type Fault =
  | { readonly kind: "STATUS"; readonly status: number; readonly message: string }
  | { readonly kind: "DELAY"; readonly ms: number }
  | { readonly kind: "HOLD"; readonly until: () => Promise<void> }
  /** The work is done, the answer never comes: the connection is closed, or nothing more is heard on it. */
  | { readonly kind: "UNANSWERED"; readonly how: "CUT" | "SILENT" }
  | { readonly kind: "LIMIT"; readonly limit: RateLimit };

export type Held = {
  /** So many requests have come and wait. */
  readonly reached: (requests?: number) => Promise<void>;
  readonly release: () => void;
};

export type Faults = {
  /** The next requests answer so, and nothing is done. */
  readonly fail: (requests: number, status: number, match?: RegExp, message?: string) => void;
  /** Every request takes so much longer, until cleared; 0 ends it. */
  readonly delay: (ms: number, match?: RegExp) => void;
  /** Every such request waits where it is until it is let go, by `release` or by `clear`. */
  readonly hold: (match: RegExp, came?: () => void) => Held;
  /** The next requests do their work, and their connection is cut before an answer, or hangs until the twin stops. */
  readonly loseAnswers: (requests: number, match?: RegExp, how?: "CUT" | "SILENT") => void;
  readonly rateLimit: (limit: RateLimit) => void;
  /** Each of the next webhooks. `reorder` holds a webhook back until the one after it was delivered. */
  readonly lose: (webhooks: number) => void;
  readonly double: (webhooks: number) => void;
  readonly reorder: (webhooks: number) => void;
  readonly delayWebhooks: (ms: number) => void;
  /**
   * Until cleared, each request and each webhook meets some fault by chance, the same ones for the same seed. Of the
   * requests, half of those hit were done before they fail.
   */
  readonly byChance: (seed: number, probability: number) => void;
  readonly clear: () => void;
};

export type WebhookFault = "LOSE" | "DOUBLE" | "REORDER";

export type FaultPlan = Faults & {
  /** What this request meets; counts down what was planned. */
  readonly ofRequest: (line: string) => readonly Fault[];
  readonly ofWebhook: () => WebhookFault | undefined;
  readonly webhookDelayMs: () => number;
};

export function createFaults(): FaultPlan {
  let planned: Planned[] = [];
  const webhooks: Record<WebhookFault, number> = { LOSE: 0, DOUBLE: 0, REORDER: 0 };
  let webhookDelayMs = 0;
  let holds: readonly Hold[] = [];
  let chance: { readonly next: () => number; readonly probability: number } | undefined;

  const plan = (fault: Fault, left: number, match: RegExp | undefined): void => {
    planned.push({ fault, left, match });
  };
  const take = (line: string): readonly Fault[] => {
    const met = planned.filter((one) => one.left > 0 && (one.match?.test(line) ?? true));
    // Of those that end a request only the first counts, the rest is for the next ones.
    const isPassing = ({ fault: { kind } }: Planned): boolean => kind === "DELAY" || kind === "HOLD";
    const ending = met.find((one) => !isPassing(one));
    const counted = met.filter((one) => isPassing(one) || one === ending);
    for (const one of counted) one.left -= 1;
    return counted.map((one) => one.fault);
  };
  const hit = (): boolean => chance !== undefined && chance.next() < chance.probability;
  const atRandom = (): readonly Fault[] => {
    if (!hit() || chance === undefined) return [];
    const ways: readonly Fault[] = [
      { kind: "UNANSWERED", how: "CUT" },
      { kind: "STATUS", status: 502, message: "Server Error" },
    ];
    return ways.slice(Math.floor(chance.next() * 2)).slice(0, 1);
  };
  const webhookAtRandom = (): WebhookFault | undefined =>
    hit() && chance !== undefined ? (["LOSE", "DOUBLE", "REORDER"] as const)[Math.floor(chance.next() * 3)] : undefined;

  return {
    fail: (requests, status, match, message = "A fault was ordered") =>
      plan({ kind: "STATUS", status, message }, requests, match),
    delay: (ms, match) => {
      planned = planned.filter((one) => one.fault.kind !== "DELAY");
      if (ms > 0) plan({ kind: "DELAY", ms }, Infinity, match);
    },
    hold: (match, came) => {
      const made = aHold(came);
      holds = [...holds, made];
      plan({ kind: "HOLD", until: made.waits }, Infinity, match);
      return made;
    },
    loseAnswers: (requests, match, how = "CUT") => plan({ kind: "UNANSWERED", how }, requests, match),
    rateLimit: (limit) => plan({ kind: "LIMIT", limit }, limit.requests ?? 1, limit.match),
    lose: (count) => void (webhooks.LOSE += count),
    double: (count) => void (webhooks.DOUBLE += count),
    reorder: (count) => void (webhooks.REORDER += count),
    delayWebhooks: (ms) => void (webhookDelayMs = ms),
    byChance: (seed, probability) => void (chance = { next: numbers(seed), probability }),
    clear: () => {
      planned = [];
      for (const one of holds) one.release();
      holds = [];
      for (const kind of ["LOSE", "DOUBLE", "REORDER"] as const) webhooks[kind] = 0;
      webhookDelayMs = 0;
      chance = undefined;
    },
    ofRequest: (line) => {
      const met = take(line);
      return met.length > 0 ? met : atRandom();
    },
    ofWebhook: () => {
      const kind = (["LOSE", "DOUBLE", "REORDER"] as const).find((one) => webhooks[one] > 0);
      if (kind === undefined) return webhookAtRandom();
      webhooks[kind] -= 1;
      return kind;
    },
    webhookDelayMs: () => webhookDelayMs,
  };
}

type Hold = Held & { readonly waits: () => Promise<void> };

function aHold(whenCome = (): void => {}): Hold {
  const events = new EventEmitter().setMaxListeners(0);
  let came = 0;
  let isOpen = false;
  return {
    waits: async () => {
      came += 1;
      events.emit("came");
      whenCome();
      if (!isOpen) await once(events, "release");
    },
    reached: async (requests = 1) => {
      const isReached = (): boolean => came >= requests;
      while (!isReached()) await once(events, "came");
    },
    release: () => {
      isOpen = true;
      events.emit("release");
    },
  };
}

/** Mulberry32: short, and good enough to choose faults by. */
function numbers(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
