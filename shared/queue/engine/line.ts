import type { EntryId } from "../../kernel/ids.ts";
import { overlapsAll, overlapsNobody } from "./lanes.ts";
import { admittedInOrder } from "./order.ts";
import type { Entry, QueueState } from "./types.ts";

/** One or several entries that are tested and land as one. */
export type Group = {
  readonly members: readonly EntryId[];
  /** Its position among the groups, counted from 0. */
  readonly at: number;
  /** A part of a batch that failed and is being taken apart: its runs have slots of their own. */
  readonly isBisected: boolean;
};

type Lined = Pick<QueueState, "entries" | "landing" | "mode" | "bisections">;

/**
 * The queue in order: its groups, and who depends on whom. A snapshot; what it answers holds until an entry comes, goes,
 * changes its place, its batch or its targets. A batch stands where its first member stands.
 */
export class Line {
  readonly groups: readonly Group[];
  /** All admitted entries, in order, the members of a group next to each other. */
  readonly entries: readonly EntryId[];
  private readonly state: Lined;
  private readonly groupsByEntry = new Map<EntryId, Group>();
  /** Where each group's members begin in `entries`. */
  private readonly starts: readonly number[];
  /** By group: a bit for each group ahead that overlaps it. */
  private ahead: readonly Uint32Array[] | undefined;
  private readonly idsAhead = new Map<number, readonly EntryId[]>();

  constructor(state: Lined) {
    this.state = state;
    this.groups = groupsOf(state).map((group, at) => ({ ...group, at }));
    this.entries = this.groups.flatMap((group) => group.members);
    const starts: number[] = [];
    let start = 0;
    for (const group of this.groups) {
      starts.push(start);
      start += group.members.length;
      for (const id of group.members) this.groupsByEntry.set(id, group);
    }
    this.starts = starts;
  }

  groupOf(id: EntryId): Group | undefined {
    return this.groupsByEntry.get(id);
  }

  /**
   * The entries that the group depends on: those of the groups ahead that overlap it. Whom these depend on in turn is
   * theirs: what a test says of a target follows from the changes that impact that target, and from no others.
   */
  predecessorsOf(group: Group): readonly EntryId[] {
    if (this.state.mode === "SINGLE") return this.entries.slice(0, this.starts[group.at]);
    const known = this.idsAhead.get(group.at);
    if (known !== undefined) return known;
    const ids = this.groupsAhead(group).flatMap((one) => one.members);
    this.idsAhead.set(group.at, ids);
    return ids;
  }

  /** The same one after the other: for whoever may have seen enough before the last. */
  *eachPredecessor(group: Group): Generator<EntryId> {
    const bits = this.state.mode === "SINGLE" ? undefined : this.bitsOf(group.at);
    for (let at = 0; at < group.at; at += 1) {
      if (bits !== undefined && !isSet(bits, at)) continue;
      yield* this.groups[at]?.members ?? [];
    }
  }

  hasPredecessors(group: Group): boolean {
    if (this.state.mode === "SINGLE") return group.at > 0;
    return this.bitsOf(group.at).some((word) => word !== 0);
  }

  /** Whether `later` depends on `earlier`. */
  dependsOn(later: Group, earlier: Group): boolean {
    if (later.at <= earlier.at) return false;
    return this.state.mode === "SINGLE" || isSet(this.bitsOf(later.at), earlier.at);
  }

  /** The groups behind that depend on it, in order; no more than `most`. */
  dependentsOf(group: Group, most: number = Number.POSITIVE_INFINITY): readonly Group[] {
    const found: Group[] = [];
    for (let at = group.at + 1; at < this.groups.length && found.length < most; at += 1) {
      const other = this.groups[at];
      if (other !== undefined && this.dependsOn(other, group)) found.push(other);
    }
    return found;
  }

  private groupsAhead(group: Group): readonly Group[] {
    const bits = this.bitsOf(group.at);
    return this.groups.slice(0, group.at).filter((one) => isSet(bits, one.at));
  }

  private bitsOf(at: number): Uint32Array {
    this.ahead ??= overlapsAhead(this.state, this.groups, this.groupsByEntry);
    return this.ahead[at] ?? NOBODY;
  }
}

const set = (bits: Uint32Array, at: number): void => {
  bits[at >> 5] = (bits[at >> 5] ?? 0) | (1 << (at & 31));
};

const isSet = (bits: Uint32Array, at: number): boolean => (((bits[at >> 5] ?? 0) >>> (at & 31)) & 1) === 1;

/** For each group a bit for each one ahead of it that it overlaps. */
function overlapsAhead(
  state: Lined,
  groups: readonly Group[],
  groupsByEntry: ReadonlyMap<EntryId, Group>,
): readonly Uint32Array[] {
  const byNumber = new Map<number, number>();
  const all: boolean[] = groups.map(() => false);
  const some: boolean[] = groups.map(() => false);
  for (const [id, { at }] of groupsByEntry) {
    const entry = state.entries.get(id);
    if (entry === undefined || overlapsNobody(entry)) continue;
    some[at] = true;
    if (overlapsAll(entry)) all[at] = true;
    if (entry.lane !== null) byNumber.set(entry.lane.number, at);
  }
  const found = groups.map(({ at }) => new Uint32Array((at + 31) >> 5));
  const join = (a: number, b: number): void => set(found[Math.max(a, b)] ?? NOBODY, Math.min(a, b));
  for (const [id, { at }] of groupsByEntry) {
    for (const number of state.entries.get(id)?.lane?.overlaps ?? []) {
      const other = byNumber.get(number);
      if (other !== undefined && other !== at) join(at, other);
    }
  }
  for (const [at, isAll] of all.entries())
    if (isAll) for (const { at: other } of groups) if (other !== at && some[other]) join(at, other);
  return found;
}

const NOBODY = new Uint32Array();

/** What lands of a batch stands in front by itself: the rest of it stays where it is. */
function groupsOf(state: Lined): readonly Omit<Group, "at">[] {
  const order = admittedInOrder(state);
  const landing = new Set(state.landing?.group);
  const batchOf = ({ id, group }: Entry): string => `${landing.has(id) ? "landing " : ""}${group}`;
  const batches = new Map<string, Entry[]>();
  for (const entry of order) {
    if (entry.group === null) continue;
    const members = batches.get(batchOf(entry));
    if (members === undefined) batches.set(batchOf(entry), [entry]);
    else members.push(entry);
  }
  return order.flatMap((entry): readonly Omit<Group, "at">[] => {
    if (entry.group === null) return [{ members: [entry.id], isBisected: false }];
    const members = batches.get(batchOf(entry));
    if (members?.[0] !== entry) return [];
    return partsOf(
      state,
      entry.group,
      members.map((one) => one.id),
    );
  });
}

/** The batch as it is tested now: whole, or in the parts that it was taken apart into. */
function partsOf(state: Lined, id: Entry["group"], members: readonly EntryId[]): readonly Omit<Group, "at">[] {
  const bisection = state.bisections.find((one) => one.group === id);
  if (bisection === undefined) return [{ members, isBisected: false }];
  return bisection.parts.flatMap((part) => {
    const left = part.members.filter((one) => members.includes(one));
    return left.length === 0 ? [] : [{ members: left, isBisected: true }];
  });
}
