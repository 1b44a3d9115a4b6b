import { describe, expect, it } from "vitest";
import { groupId } from "../../../shared/kernel/ids.ts";
import { type Group, Line } from "../../../shared/queue/engine/line.ts";
import type { Entry } from "../../../shared/queue/engine/types.ts";
import { anEntry, aQueueOf, ids, inLane } from "../../support/forged.ts";

const lanes = (...entries: readonly Entry[]): Line => new Line(aQueueOf({ entries }, { mode: "PARALLEL" }));
const numbers = (of: readonly string[]): readonly number[] => of.map((id) => Number(id.slice(1)));
const groupOf = (line: Line, number: number): Group => {
  const group = line.groupOf(ids(number)[0] ?? ("none" as never));
  if (group === undefined) throw new Error(`#${number} is not in the line`);
  return group;
};
const ahead = (line: Line, number: number) => numbers(line.predecessorsOf(groupOf(line, number)));

describe("the line", () => {
  const line = lanes(inLane(1), inLane(2, [1]), inLane(3), inLane(4, [1, 3]), inLane(5, [2]));

  it("knows who depends on whom, both ways", () => {
    expect([1, 2, 3, 4, 5].map((number) => ahead(line, number))).toEqual([[], [1], [], [1, 3], [2]]);
    const behind = (number: number, most?: number) =>
      line.dependentsOf(groupOf(line, number), most).flatMap((group) => numbers(group.members));
    expect([1, 2, 3, 4, 5].map((number) => behind(number))).toEqual([[2, 4], [5], [4], [], []]);
    expect([behind(1, 1), behind(1, 0)]).toEqual([[2], []]);
  });

  it("answers the same one after the other, and again", () => {
    for (const number of [1, 2, 3, 4, 5, 5]) {
      const group = groupOf(line, number);
      expect(numbers([...line.eachPredecessor(group)])).toEqual(ahead(line, number));
      expect(line.hasPredecessors(group)).toBe(ahead(line, number).length > 0);
    }
  });

  it("says that nobody depends on itself or on one behind it", () => {
    expect(line.dependsOn(groupOf(line, 1), groupOf(line, 1))).toBe(false);
    expect(line.dependsOn(groupOf(line, 1), groupOf(line, 2))).toBe(false);
    expect(line.dependsOn(groupOf(line, 2), groupOf(line, 1))).toBe(true);
    expect(line.dependsOn(groupOf(line, 3), groupOf(line, 1))).toBe(false);
  });

  it("of one lane puts everybody behind everybody ahead", () => {
    // Whatever they impact: it has not been compared.
    const nothing = { kind: "SET", digest: "", count: 0 } as const;
    const one = new Line(aQueueOf({ entries: [anEntry(1), inLane(2, [], { targets: nothing }), inLane(3)] }));
    expect([1, 2, 3].map((number) => ahead(one, number))).toEqual([[], [1], [1, 2]]);
    expect(numbers([...one.eachPredecessor(groupOf(one, 3))])).toEqual([1, 2]);
    expect(one.dependsOn(groupOf(one, 3), groupOf(one, 1))).toBe(true);
    expect(one.hasPredecessors(groupOf(one, 1))).toBe(false);
  });

  it("takes whoever was never compared to overlap everybody but those that impact nothing", () => {
    const unknown = lanes(
      inLane(1),
      anEntry(2),
      inLane(3),
      inLane(4, [], { targets: { kind: "SET", digest: "", count: 0 } }),
      inLane(5, [], { lane: null }),
    );
    expect([1, 2, 3, 4, 5].map((number) => ahead(unknown, number))).toEqual([[], [1], [2], [], [1, 2, 3]]);
  });

  it("keeps the members of a batch together where its first stands, and depends on what any of them overlaps", () => {
    const batch = groupId("b");
    const batched = lanes(
      inLane(1),
      inLane(2, [], { group: batch }),
      inLane(3),
      inLane(4, [1, 2], { group: batch }),
      inLane(5, [4]),
    );
    expect(batched.groups.map((group) => numbers(group.members))).toEqual([[1], [2, 4], [3], [5]]);
    expect(batched.groups.map((group) => group.at)).toEqual([0, 1, 2, 3]);
    expect([1, 2, 3, 5].map((number) => ahead(batched, number))).toEqual([[], [1], [], [2, 4]]);
  });

  it("puts the parts of a batch behind each other, without those that have ended", () => {
    const batch = groupId("b");
    const entries = [1, 2, 3, 4].map((number) => anEntry(number, { group: batch }));
    const parts = [
      { members: ids(1, 9), depth: 1 },
      { members: ids(8), depth: 1 },
      { members: ids(2, 3, 4), depth: 1 },
    ];
    const apart = new Line(aQueueOf({ entries: [...entries, anEntry(5)] }, { bisections: [{ group: batch, parts }] }));
    expect(apart.groups.map((group) => [numbers(group.members), group.isBisected])).toEqual([
      [[1], true],
      [[2, 3, 4], true],
      [[5], false],
    ]);
    expect([ahead(apart, 2), ahead(apart, 5)]).toEqual([[1], [1, 2, 3, 4]]);
  });
});
