/** What the tests of a content would say if they never lied, and what conflicts with what. */
import type { Random } from "../../crash/random.ts";
import { changesOf, type Content } from "./content.ts";

const pairOf = (a: string, b: string): string => [a, b].sort().join(" ");

export class Truth {
  /** Changes that break the tests wherever they are. */
  readonly bad = new Set<string>();
  /** A change that mends another one. */
  private readonly mends = new Map<string, string>();
  private readonly clashes = new Set<string>();
  private readonly textual = new Set<string>();

  /** Each is good by itself; together they fail. */
  clash(a: string, b: string): void {
    this.clashes.add(pairOf(a, b));
  }

  /** They cannot be merged into one. */
  conflict(a: string, b: string): void {
    this.textual.add(pairOf(a, b));
  }

  mend(bad: string, by: string): void {
    this.bad.add(bad);
    this.mends.set(bad, by);
  }

  isGood(content: Content): boolean {
    const changes = new Set(changesOf(content));
    for (const change of changes) {
      const mender = this.mends.get(change);
      if (this.bad.has(change) && !(mender !== undefined && changes.has(mender))) return false;
    }
    return ![...this.clashes].some((pair) => pair.split(" ").every((change) => changes.has(change)));
  }

  /** The first of the changes there that this one conflicts with in text. */
  opponentOf(change: string, changes: readonly string[]): string | undefined {
    return this.textual.size === 0 ? undefined : changes.find((other) => this.textual.has(pairOf(change, other)));
  }

  /** Decides what a new change will turn out to be, given those that are around. */
  invent(change: string, around: readonly string[], random: Random): void {
    const dice = random.next();
    const other = random.pick(around);
    if (dice < 0.12) this.bad.add(change);
    else if (dice < 0.15 && other !== undefined) this.mend(other, change);
    else if (dice < 0.24 && other !== undefined) this.clash(change, other);
    else if (dice < 0.3 && other !== undefined) this.conflict(change, other);
  }
}
