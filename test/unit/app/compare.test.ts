import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryId } from "../../../shared/kernel/ids.ts";
import { compareTargets } from "../../../shared/queue/app/compare.ts";
import type { Hashes, TargetSet, TargetsRecord } from "../../../shared/queue/app/ports.ts";
import type { Entry, Lane, Targets } from "../../../shared/queue/engine/types.ts";
import { digestOf, hashesOf } from "../../../shared/table/target-hashes.ts";
import { aLoadedQueue, anApp, anEntry, HEAD, KEY } from "./fixture.ts";

type Said = "ALL" | readonly string[];

/** Hashed once: some of these sets are large. */
const hashed = new Map<Said, Uint8Array>();
function hashesFor(said: Said): Uint8Array {
  const known = hashed.get(said) ?? hashesOf(said === "ALL" ? [] : said);
  hashed.set(said, known);
  return known;
}

const targetsOf = (said: Said): Targets =>
  said === "ALL" ? { kind: "ALL" } : { kind: "SET", digest: digestOf(hashesFor(said)), count: said.length };

/** An entry whose targets are in force under one number, or being compared under another, or both. */
type Standing = { readonly inForce?: readonly [number, Said]; readonly comparing?: readonly [number, Said] };

const laneOf = (number: number): Lane => ({ number, overlaps: [], since: 0, isolated: false });

const standingOf = ({ inForce, comparing }: Standing): Partial<Entry> => ({
  targets: inForce === undefined ? null : targetsOf(inForce[1]),
  lane: inForce === undefined ? null : laneOf(inForce[0]),
  comparing: comparing === undefined ? null : { number: comparing[0], targets: targetsOf(comparing[1]) },
});

type Stored = { readonly sets: readonly Said[]; readonly shown?: TargetsRecord; readonly patterns?: readonly string[] };

/** The use case with these entries live; #1 is the first of them. Asks are counted. */
function aQueueOf(standings: readonly Standing[], { sets, shown, patterns = [] }: Stored) {
  const batchingRules = patterns.map((targetPattern) => ({ targetPattern, policy: "ISOLATE" }) as const);
  const entries = standings.map((standing, at) => anEntry(at + 1, standingOf(standing)));
  const queue = aLoadedQueue(entries, { settings: { mode: "PARALLEL", batchingRules } });
  const held = new Map<string, Hashes>();
  for (const said of sets) {
    const bytes = hashesFor(said);
    held.set(digestOf(bytes), new Uint32Array(new Uint8Array(bytes).buffer));
  }
  const asked: (readonly TargetSet[])[] = [];
  const hashes = async (_org: unknown, wanted: readonly TargetSet[]) => {
    asked.push(wanted);
    const found = wanted.flatMap(({ digest }) => {
      const known = held.get(digest);
      return known === undefined ? [] : [[digest, known] as const];
    });
    return new Map(found);
  };
  const app = anApp({ queues: { view: async () => queue }, targets: { find: async () => shown, hashes } });
  const compare = (prNumber: number, number: number) =>
    compareTargets(app, KEY, {
      type: "compare-targets",
      key: `compare-targets:e${prNumber}:${number}`,
      entry: entryId(`e${prNumber}`),
      prNumber,
      headSha: HEAD,
      number,
    });
  return { compare, asked };
}

const overlapsOf = async (standings: readonly Standing[], stored: Stored, prNumber: number, number: number) => {
  const event = await aQueueOf(standings, stored).compare(prNumber, number);
  return event?.type === "targets-compared" ? event.overlaps : event;
};

const saidBy = (standings: readonly Standing[]): readonly Said[] =>
  standings.flatMap(({ inForce, comparing }) => [inForce?.[1] ?? [], comparing?.[1] ?? []]);

describe("comparing targets", () => {
  test("names those that came before and share one, ascending, whether in force or being compared", async () => {
    const standings: readonly Standing[] = [
      { inForce: [9, ["a"]], comparing: [10, ["x", "b", "y"]] },
      { inForce: [5, ["b"]] },
      { inForce: [3, ["c"]], comparing: [7, ["b", "c"]] },
      { comparing: [4, ["b"]] },
      { comparing: [11, ["b"]] },
      { inForce: [12, ["b"]] },
      { inForce: [1, "ALL"] },
      { inForce: [2, []] },
    ];
    expect(await overlapsOf(standings, { sets: saidBy(standings) }, 1, 10)).toEqual([4, 5, 7]);
  });

  test("says what strings say, for any queue", async () => {
    const set = fc.uniqueArray(fc.integer({ min: 0, max: 12 }).map(String), { maxLength: 4 });
    const said = fc.oneof({ weight: 5, arbitrary: set }, { weight: 1, arbitrary: fc.constant("ALL" as const) });
    const queue = fc.array(fc.record({ inForce: fc.option(said), comparing: fc.option(said) }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        queue,
        fc.uniqueArray(fc.integer({ min: 0, max: 12 }).map(String), { minLength: 1 }),
        async (others, own) => {
          const standings: Standing[] = others.map(({ inForce, comparing }, at) => ({
            ...(inForce === null ? {} : { inForce: [2 * at + 1, inForce] }),
            ...(comparing === null ? {} : { comparing: [2 * at + 2, comparing] }),
          }));
          const number = others.length + 1;
          standings.push({ comparing: [number, own] });
          const numbered = standings.flatMap(({ inForce, comparing }) => [inForce ?? [], comparing ?? []]);
          const naive = numbered
            .filter(([at = number, of = []]) => at < number && of !== "ALL" && of.some((one) => own.includes(one)))
            .flatMap(([at]) => at ?? [])
            .sort((a, b) => a - b);
          expect(await overlapsOf(standings, { sets: saidBy(standings) }, standings.length, number)).toEqual(naive);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("asks for each set once, in portions", async () => {
    const common = Array.from({ length: 40 }, (_, at): Standing => ({ inForce: [at + 2, ["b", "c"]] }));
    const own = Array.from({ length: 1_200 }, (_, at): Standing => ({ inForce: [at + 50, [`t${at}`]] }));
    const standings = [{ comparing: [5_000, ["a"]] } as const, ...common, ...own];
    const { compare, asked } = aQueueOf(standings, { sets: saidBy(standings) });
    expect(await compare(1, 5_000)).toMatchObject({ overlaps: [] });
    expect(asked.flat()).toHaveLength(1_202);
    expect(new Set(asked.flat().map((set) => set.digest)).size).toBe(1_202);
    expect(Math.max(...asked.map((portion) => portion.length))).toBeLessThanOrEqual(500);
  });

  test("asks for no more than some megabytes at a time, however large the sets are", async () => {
    const large = [0, 1, 2].map((of) => Array.from({ length: 200_000 }, (_, at) => `${of}-${at}`));
    const standings: readonly Standing[] = [
      { comparing: [100, ["2-199999"]] },
      ...large.map((set, at): Standing => ({ inForce: [at + 1, set] })),
    ];
    const { compare, asked } = aQueueOf(standings, { sets: saidBy(standings) });
    expect(await compare(1, 100)).toMatchObject({ overlaps: [3] });
    const bytes = asked.map((portion) => portion.reduce((sum, set) => sum + set.count * 8, 0));
    expect(Math.max(...bytes)).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  test("asks nobody about a set that is the same, alone, or before all others", async () => {
    const same = aQueueOf([{ inForce: [1, ["a"]] }, { comparing: [2, ["a"]] }], { sets: [] });
    expect(await same.compare(2, 2)).toMatchObject({ overlaps: [1] });
    const first = aQueueOf([{ comparing: [1, ["a"]] }, { comparing: [2, ["a"]] }], { sets: [] });
    expect(await first.compare(1, 1)).toMatchObject({ overlaps: [] });
    expect([...same.asked, ...first.asked]).toEqual([]);
  });

  test("takes what cannot be found any more for overlapping", async () => {
    const standings: readonly Standing[] = [
      { inForce: [1, ["a"]] },
      { inForce: [2, ["b"]] },
      { comparing: [3, ["c"]] },
    ];
    expect(await overlapsOf(standings, { sets: [["a"], ["c"]] }, 3, 3)).toEqual([2]);
    expect(await overlapsOf(standings, { sets: [["a"], ["b"]] }, 3, 3)).toEqual([1, 2]);
  });

  test("of ALL and of the empty set compares nothing: their kind says it", async () => {
    const standings: readonly Standing[] = [{ inForce: [1, ["a"]] }, { comparing: [2, "ALL"] }, { comparing: [3, []] }];
    expect(await overlapsOf(standings, { sets: [] }, 2, 2)).toEqual([]);
    expect(await overlapsOf(standings, { sets: [] }, 3, 3)).toEqual([]);
  });

  test("answers nothing once the entry has gone, or has other targets", async () => {
    const { compare } = aQueueOf([{ inForce: [1, ["a"]], comparing: [3, ["b"]] }], { sets: [["a"], ["b"]] });
    expect(await compare(1, 1)).toBeNull();
    expect(await compare(1, 2)).toBeNull();
    expect(await compare(2, 3)).toBeNull();
    expect(await compare(1, 3)).not.toBeNull();
  });
});

describe("a batching rule that isolates", () => {
  const shownOf = (shown: readonly string[], all: Said = shown): TargetsRecord => ({
    targets: targetsOf(all),
    source: "UPLOAD",
    shown,
  });
  const isolated = async (said: Said, shown: TargetsRecord | undefined, patterns: readonly string[]) => {
    const stored = { sets: [said], patterns, ...(shown === undefined ? {} : { shown }) };
    const event = await aQueueOf([{ comparing: [1, said] }], stored).compare(1, 1);
    return event?.type === "targets-compared" ? event.isolated : undefined;
  };
  const SET = ["//db:migrations", "//web:app"];

  test.each([
    [["//db:*"], true],
    [["//api/**", "//web:app"], true],
    [["**"], true],
    [["//db", "db:*", "//DB:*"], false],
    [[], false],
  ])("by %j: %s", async (patterns, expected) => {
    expect(await isolated(SET, shownOf(SET), patterns)).toBe(expected);
  });

  test("isolates what it cannot see whole: ALL, and sets that are not shown to their end", async () => {
    const many = Array.from({ length: 1_001 }, (_, at) => `t${at}`);
    expect(await isolated("ALL", shownOf([], "ALL"), ["//db:*"])).toBe(true);
    expect(await isolated(many, shownOf(many.slice(0, 1_000), many), ["//db:*"])).toBe(true);
    expect(await isolated(SET, undefined, ["//none"])).toBe(true);
    expect(await isolated(SET, shownOf(["other"]), ["//none"])).toBe(true);
    for (const said of ["ALL", many, SET] as const) expect(await isolated(said, undefined, [])).toBe(false);
  });

  test("leaves the empty set alone", async () => {
    expect(await isolated([], shownOf([]), ["**"])).toBe(false);
  });
});
