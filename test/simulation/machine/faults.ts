/** Everything that may go wrong, by name, how often it does, and how often it did. */
import type { Random } from "../../crash/random.ts";
import { randomFor } from "./random.ts";

/** Probability of each per occasion, when it is at its worst; a seed takes some of them, at some strength. */
const WORST = {
  /** The table: a transaction meets another one; nothing is written. */
  "table: conflict": 0.15,
  /** Refused for its rate; nothing is written, and the SDK tries again. */
  "table: throttled": 0.1,
  /** Every call is refused for some seconds, longer than the SDK tries. */
  "table: storm": 0.004,
  /** Written, but the connection breaks before the answer; the SDK tries again. */
  "table: answer lost": 0.06,
  /** The same, and the connection stays broken for as long as the SDK tries. */
  "table: connection lost": 0.015,
  /** A query comes in small pages, between which others write. */
  "table: small pages": 0.3,
  /** A batch of reads comes back in parts. */
  "table: partial batch": 0.3,
  /** A read that asked for no consistency answers what was true a moment ago. */
  "table: stale read": 0.4,
  /** A call takes seconds. */
  "table: slow": 0.02,

  /** A process is gone between two steps. */
  "process: death at a call": 0.006,
  "process: death at a point": 0.02,
  /** It stands still for so long that its claims run out, and goes on. */
  "process: standstill": 0.002,

  "stream: lost": 0.1,
  "stream: doubled": 0.2,
  "stream: late": 0.15,
  "sweep: left out": 0.3,
  "sweep: doubled": 0.3,

  "news: lost": 0.4,
  "news: doubled": 0.3,
  "news: late": 0.3,

  "host: unreachable": 0.06,
  /** Done, and the answer is lost. */
  "host: answer lost": 0.06,
  /** Nobody reaches it for minutes. */
  "host: outage": 0.008,
  /** Longer than anybody waits for an answer. */
  "host: slow": 0.05,
  /** Longer than a claim on work lasts. */
  "host: hangs": 0.004,
  /** A run ends without a verdict. */
  "host: run broken": 0.06,
  /** Results are shown minutes after they are known. */
  "host: late statuses": 0.3,
} as const;

export type Fault = keyof typeof WORST;
export const FAULTS = Object.keys(WORST) as readonly Fault[];
export const FAULT_CLASSES = ["table", "process", "stream", "sweep", "news", "host"] as const;

export class Faults {
  readonly counts = new Map<Fault, number>();
  private readonly rates: ReadonlyMap<Fault, number>;
  private readonly random: Random;
  private isOver = false;

  constructor(rates: ReadonlyMap<Fault, number>, random: Random) {
    this.rates = rates;
    this.random = random;
  }

  happens(fault: Fault): boolean {
    const rate = this.isOver ? 0 : (this.rates.get(fault) ?? 0);
    if (rate === 0 || !this.random.chance(rate)) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }

  /** From now on nothing goes wrong. */
  end(): void {
    this.isOver = true;
  }
}

/** Each seed has its own mixture: what is rare in all of them together is frequent in some. */
export function mixtureOf(seed: number): ReadonlyMap<Fault, number> {
  const random = randomFor(seed, "faults");
  const isCalm = random.chance(0.05);
  return new Map(FAULTS.map((fault) => [fault, isCalm || random.chance(0.45) ? 0 : WORST[fault] * random.next() ** 2]));
}

/** All faults whose name begins so, as bad as they get. */
export const onlyFaults = (prefix: string): ReadonlyMap<Fault, number> =>
  new Map(FAULTS.filter((fault) => fault.startsWith(prefix)).map((fault) => [fault, WORST[fault]]));
