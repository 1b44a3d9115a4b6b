/**
 * A scripted queue that makes lanes: targets are lists of names, and whoever compares them here holds them against all
 * that came before.
 *
 *     const queue = aLanedQueue().opens().brings(1, "web").brings(2, "api").brings(3, "web api");
 */
import type { Effect, NewEntry, Settings, Targets } from "../../shared/queue/engine/types.ts";
import { aState, ScriptedQueue } from "./queue.ts";

/** Names with blanks between them; `ALL`; or the empty string for none. */
export type Names = string;

const split = (names: Names): readonly string[] => names.split(" ").filter((name) => name !== "");

export const targetsOf = (names: Names): Targets =>
  names === "ALL" ? { kind: "ALL" } : { kind: "SET", digest: names, count: split(names).length };

export class LanedQueue extends ScriptedQueue {
  private readonly numbers = new Map<number, readonly string[]>();
  private answered = 0;

  /** Submits a PR that impacts these targets, and answers the comparison. */
  brings(number: number, names: Names, change: Partial<NewEntry> = {}): this {
    return this.submitsWith(number, { targets: targetsOf(names), ...change }).compares();
  }

  /** Replaces a PR's targets, and answers the comparison. */
  impacts(number: number, names: Names): this {
    return this.asks(number, { targets: targetsOf(names) }).compares();
  }

  /** Answers all comparisons that were asked for. */
  compares(isolated = false): this {
    for (; this.answered < this.outbox.length; this.answered += 1) {
      const effect = this.outbox[this.answered];
      if (effect?.type === "compare-targets") this.answer(effect, isolated);
    }
    return this;
  }

  private answer({ entry: id, number }: Extract<Effect, { type: "compare-targets" }>, isolated: boolean): void {
    const targets = this.state.entries.get(id)?.comparing?.targets;
    const own = targets?.kind === "SET" ? split(targets.digest) : [];
    const overlaps = [...this.numbers].filter(([, names]) => names.some((name) => own.includes(name)));
    this.numbers.set(number, own);
    const earlier = overlaps.map(([other]) => other);
    this.event({ type: "targets-compared", entry: id, number, overlaps: earlier, isolated });
  }
}

export const aLanedQueue = (settings: Partial<Settings> = {}): LanedQueue =>
  new LanedQueue(aState({ mode: "PARALLEL", ...settings }));
