/** What the tests of a content would say if they never lied, what conflicts with what, and what each change touches. */
import type { Random } from "../../crash/random.ts";
import { changesOf, type Content } from "./content.ts";

const pairOf = (a: string, b: string): string => [a, b].sort().join(" ");

const AREAS = 7;
const anArea = (random: Random): string => `area-${random.int(1, AREAS)}`;

export class Truth {
  /** Changes that break the tests wherever they are. */
  readonly bad = new Set<string>();
  /** Changes from which nothing can be built, for a reason of their own. */
  readonly unbuildable = new Set<string>();
  /** How often tests of a content that holds it still fail by chance. */
  readonly flakes = new Map<string, number>();
  private readonly areas = new Map<string, ReadonlySet<string>>();
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

  /** What was tested before does not change by it: a content that holds the mender is a new one. */
  mend(bad: string, by: string): void {
    this.bad.add(bad);
    this.mends.set(bad, by);
  }

  touch(change: string, areas: readonly string[]): void {
    this.areas.set(change, new Set(areas));
  }

  /** What it really touches; undefined for what somebody pushed himself, which may be anything. */
  areasOf(change: string): ReadonlySet<string> | undefined {
    return this.areas.get(change);
  }

  overlap(a: string, b: string): boolean {
    const [left, right] = [this.areas.get(a), this.areas.get(b)];
    return left === undefined || right === undefined || [...left].some((area) => right.has(area));
  }

  /** Whether this test fails by a chance that was foretold. */
  flakesNow(content: Content): boolean {
    const change = changesOf(content).find((one) => (this.flakes.get(one) ?? 0) > 0);
    if (change === undefined) return false;
    this.flakes.set(change, (this.flakes.get(change) ?? 0) - 1);
    return true;
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

  /** Decides what a new change will turn out to be, given those that are around. What matters to another overlaps it. */
  invent(change: string, around: readonly string[], random: Random): void {
    const own = random.chance(0.05) ? [] : [anArea(random), ...(random.chance(0.4) ? [anArea(random)] : [])];
    const dice = random.next();
    const other = random.pick(around);
    const [shared] = other === undefined ? [] : [...(this.areasOf(other) ?? [])];
    const isRelated = dice < 0.24 && other !== undefined && shared !== undefined;
    this.touch(change, isRelated ? [...own, shared] : own);
    if (isRelated && this.bad.has(other) && random.chance(0.4)) this.mend(other, change);
    else if (dice < 0.12) this.bad.add(change);
    else if (dice < 0.2 && isRelated) this.clash(change, other);
    else if (dice < 0.26 && other !== undefined) this.conflict(change, other);
    else if (dice < 0.27) this.unbuildable.add(change);
  }
}
