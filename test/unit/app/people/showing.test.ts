import { describe, expect, test } from "vitest";
import { commitSha, entryId } from "../../../../shared/kernel/ids.ts";
import { showing } from "../../../../shared/queue/app/people/showing.ts";
import type { Folded } from "../../../../shared/queue/app/ports.ts";
import type { Entry, Move, PullRequestFacts } from "../../../../shared/queue/engine/types.ts";
import { aLoadedQueue, anApp, anEntry, HEAD } from "../fixture.ts";
import { NOW } from "../../table/fixture.ts";

const FACTS: PullRequestFacts = {
  number: 1,
  state: "OPEN",
  draft: true,
  title: "A change",
  url: "https://github.com/acme/app/pull/1",
  author: { name: "ada", email: "ada@example.com" },
  headSha: HEAD,
  headBranch: "one",
  baseBranch: "main",
  fromFork: false,
  mergeability: "MERGEABLE",
  judgedOn: null,
  obstacle: null,
};

const move = (prNumber: number): Move => ({
  entry: entryId(`e${prNumber}`),
  prNumber,
  number: 0,
  from: null,
  to: "NOT_READY",
  reason: "SUBMITTED",
  message: "submitted",
  cause: "user:ada",
  run: null,
  at: NOW,
});

/** What a commit leaves that found these entries, leaves those, and made these moves. */
function effects(
  before: readonly Entry[],
  after: readonly Entry[],
  { moves = [], hasPages = true }: { readonly moves?: readonly Move[]; readonly hasPages?: boolean } = {},
) {
  const queue = aLoadedQueue(before);
  const folded: Folded = {
    taken: [],
    decision: {
      state: aLoadedQueue(after).state,
      effects: [],
      moves,
      endedRuns: [],
      endedEntries: [],
      notes: [],
      wakeAt: undefined,
      more: false,
    },
  };
  return showing({ ...anApp({}), hasPages: () => hasPages }, queue, folded);
}

const unready = (change: Partial<PullRequestFacts> = {}, more: Partial<Entry> = {}): Entry =>
  anEntry(1, { state: "NOT_READY", pr: { ...FACTS, ...change }, ...more });

describe("pages are shown", () => {
  test("once for each commit in which something moves, however much", () => {
    const moves = [move(1), move(2), move(1)];
    expect(effects([], [], { moves })).toEqual([{ type: "show", key: "show:2", prNumbers: [1, 2], at: NOW }]);
  });

  test("on no host that has none: nothing is left to do there", () => {
    expect(effects([unready()], [unready({ draft: false })], { moves: [move(1)], hasPages: false })).toEqual([]);
  });

  test("not when nothing moves", () => {
    expect(effects([unready()], [unready()])).toEqual([]);
    expect(effects([unready()], [unready({ judgedOn: commitSha("b".repeat(40)) })])).toEqual([]);
  });

  test.each([
    ["lacks something else", unready({ draft: false })],
    ["has another head", unready({ headSha: commitSha("c".repeat(40)) })],
    ["got its targets", unready({}, { targets: { kind: "ALL" } })],
  ])("when one that is not ready and stays so %s", (_, after) => {
    expect(effects([unready()], [after])).toMatchObject([{ prNumbers: [1] }]);
  });

  test("not when facts of one change that is tested: it moves if they matter", () => {
    const tested = (change: Partial<PullRequestFacts>): Entry => unready(change, { state: "TESTING" });
    expect(effects([tested({})], [tested({ title: "Another" })])).toEqual([]);
  });
});
