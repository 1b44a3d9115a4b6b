import { afterEach, describe } from "vitest";
import { treeSha } from "../../../shared/kernel/ids.ts";
import type { Settings } from "../../../shared/queue/engine/types.ts";
import { aPullRequest, aQueue, aTip, id, type ScriptedQueue, sha, status, testing } from "../../support/queue.ts";
import { told } from "./explained.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const own = { tip: sha("T0"), tree: treeSha("tree"), statuses: [status("unit", "SUCCESS")] };
const news = { type: "news", prNumbers: [], tip: { sha: null } } as const;
const batch = (change: Partial<Settings> = {}): ScriptedQueue =>
  aQueue({ batch: true, batchingMinSize: 2, retriesBeforeFailure: 0, ...change }).opens();

describe("one that is not ready", () => {
  told([
    [
      "misses something",
      () =>
        aQueue()
          .opens()
          .submitsWith(1, { pr: aPullRequest(1, { draft: true }) }),
      1,
      "-. PR #1 is not ready: it is a draft: mark it ready for review. (DRAFT) -> mending what is missing; it is then admitted by itself",
    ],
    [
      "comes while nobody is admitted",
      () => aQueue().opens().turns("DRAINING").submits(1),
      1,
      "-. PR #1 is not ready: the queue admits nobody: set by an operator at 2023-11-14T22:13:20.000Z. (DRAINING) -> the queue's return to RUNNING",
    ],
  ]);
});

describe("one that waits to be tested", () => {
  told([
    [
      "while the queue is paused",
      () => aQueue().opens().submits(1, 2).turns("PAUSED"),
      2,
      "2. PR #2 waits to be tested: the queue starts no tests: set by an operator at 2023-11-14T22:13:22.000Z; its testing branch is being built. (PAUSED, BUILDING) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "conflicts with one ahead",
      () =>
        aQueue()
          .opens()
          .submits(1, 2)
          .cannotBuild(2, { kind: "CONFLICT", entry: id(2), with: id(1), paths: [] }),
      2,
      "2. PR #2 waits to be tested: it conflicts in text with PR #1, which is ahead of it. (CONFLICT #1) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "and whose last test broke",
      () => testing([1]).breaks(1, "disk full"),
      1,
      "1. PR #1 waits to be tested: its last test had no verdict (disk full); it is repeated at 2023-11-14T22:13:31.000Z. (INFRASTRUCTURE) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "whose broken test is about to be repeated",
      () => testing([1]).breaks(1).turns("PAUSED").waits(10_000),
      1,
      "1. PR #1 waits to be tested: the queue starts no tests: set by an operator at 2023-11-14T22:13:21.000Z. (PAUSED) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "with one on whom the test of both broke",
      () => batch().submits(1, 2).builds(1).breaks(1, "disk full"),
      2,
      "2. PR #2 waits to be tested: its last test had no verdict (disk full); it is repeated at 2023-11-14T22:13:32.000Z; it is tested and lands together with PR #1. (INFRASTRUCTURE, BATCH) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "and is being built",
      () => aQueue().opens().submits(1),
      1,
      "1. PR #1 waits to be tested: its testing branch is being built. (BUILDING) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "while the target is read",
      () => aQueue({ concurrency: 1 }).opens().submits(1, 2).event(news),
      2,
      "2. PR #2 waits to be tested: main moved and is being read again. (TARGET_READ) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "and merges without",
      () =>
        aQueue({ directMergeMode: "ALWAYS" })
          .opens()
          .submitsWith(1, { pr: aPullRequest(1, { own }) }),
      1,
      "1. PR #1 waits to be tested: it contains the target and is green by itself: it is merged without a test. (LANDING) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "and merges without, once the target has been read",
      () =>
        aQueue({ directMergeMode: "ALWAYS" })
          .opens()
          .submitsWith(1, { pr: aPullRequest(1, { own }) })
          .event(news),
      1,
      "1. PR #1 waits to be tested: main is being read again before anything lands. (TARGET_READ) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "after it passed in vain",
      () => testing([1, 2], { concurrency: 2, retriesBeforeFailure: 1 }).passes(2).submits(3).fails(1),
      2,
      "2. PR #2 waits to be tested: q-2 passed with PR #1, which has failed since: it is tested without; all 2 testing slots are in use by PR #1, PR #3. (PREDECESSOR #1, SLOTS #1) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for the only slot",
      () => testing([1], { concurrency: 1 }).submits(2),
      2,
      "2. PR #2 waits to be tested: the only testing slot is in use by PR #1. (SLOTS #1) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for one of two slots",
      () => testing([1, 2], { concurrency: 2 }).submits(3),
      3,
      "3. PR #3 waits to be tested: all 2 testing slots are in use by PR #1, PR #2. (SLOTS #1) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for the slot of a test of the tip",
      () =>
        testing([1, 2], { concurrency: 1 })
          .passes(1)
          .lands({ onMovedTip: true, tip: aTip("X") }),
      2,
      "1. PR #2 waits to be tested: the only testing slot is in use by a test of the target itself. (SLOTS) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for a slot of the bisection",
      () => batch({ batchingMinSize: 4, bisectionConcurrency: 1 }).submits(1, 2, 3, 4).builds(1).fails(1),
      3,
      "3. PR #3 waits to be tested: the only bisection slot is in use by PR #1, PR #2; it is tested and lands together with PR #4. (SLOTS #1, BATCH) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "behind too many that are undecided",
      () => {
        const queue = aQueue({ concurrency: 60 }).opens();
        return queue.fills(44, (number) => queue.submits(number));
      },
      44,
      "44. PR #44 waits to be tested: PR #1, PR #2, PR #3, PR #4, PR #5 and 38 more ahead of it are undecided: a test now would be needed in 2 of 100 cases. (UNDECIDED_PREDECESSORS #1) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for others to be tested with",
      () => batch({ batchingMinSize: 3 }).submits(1),
      1,
      "1. PR #1 waits to be tested: it waits for others to be tested with, 1 of 3, until 2023-11-14T22:18:21.000Z. (BATCH_FORMING) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
    [
      "for others, behind the first of the batch",
      () => batch({ batchingMinSize: 3 }).submits(1, 2),
      2,
      "2. PR #2 waits to be tested: it waits for others to be tested with, 2 of 3, until 2023-11-14T22:18:21.000Z. (BATCH_FORMING) -> a free testing slot when its turn comes; a more urgent priority moves it forward",
    ],
  ]);
});
