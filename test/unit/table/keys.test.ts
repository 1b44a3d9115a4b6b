import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryId, orgSlug, type QueueKey, runId } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { joined, keys, WITHOUT_TENANT } from "../../../shared/table/keys.ts";

/** Text that could confuse a key: separators, escapes, other scripts. */
const part = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.stringMatching(/^[a#%/0-9]{0,6}$/u),
  fc.constantFrom("#", "%23", "%", "a#b", "QUEUE", ""),
);

const aKey: QueueKey = { org: orgSlug("acme"), repo: { host: "git.local", owner: "o", name: "n" }, branch: "fix/#12" };

describe("keys", () => {
  test("different lists of parts never give the same key", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), fc.array(part, { minLength: 1 }), (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(joined(...a)).not.toBe(joined(...b));
      }),
      { numRuns: 3000 },
    );
  });

  test("two queues that differ in any part share no partition", () => {
    const queue = fc.record({ org: part, host: part, owner: part, name: part, branch: part });
    fc.assert(
      fc.property(queue, queue, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        const keyOf = ({ org, branch, ...repo }: typeof a): QueueKey => ({ org: orgSlug(org), repo, branch });
        const partitions = (one: typeof a) => [
          keys.queue(keyOf(one)),
          keys.history(keyOf(one)),
          keys.log(keyOf(one)),
          keys.pullRequest(keyOf(one), 1),
          keys.endedRun(keyOf(one), runId("r")).pk,
          keys.branchPointer(keyOf(one), "b").pk,
          keys.due(keyOf(one)).sk,
        ];
        const shared = partitions(a).filter((partition) => partitions(b).includes(partition));
        expect(shared).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("the organization is the first part of every partition key but a short list", () => {
    const at = epochMs(1);
    const made = [
      keys.organization(aKey.org),
      keys.tokenByHash("00"),
      keys.tokenOf(aKey.org, "t"),
      keys.idempotency(aKey.org, "t", "r", "k"),
      keys.queuePointer(aKey),
      keys.due(aKey),
      keys.config(aKey),
      keys.meta(aKey),
      keys.window(aKey, "w"),
      keys.entry(aKey, 1),
      keys.run(aKey, runId("r")),
      keys.inbox(aKey, at, "i"),
      keys.effect(aKey, "e"),
      keys.ended(aKey, 1),
      keys.move(aKey, 1, at, entryId("e"), 0),
      keys.historyItem(aKey, at, entryId("e")),
      keys.endedRun(aKey, runId("r")),
      keys.logLine(aKey, at, 1),
      keys.targets(aKey.org, aKey.repo, 1, "sha"),
      keys.targetHashes(aKey.org, "digest"),
      keys.branchPointer(aKey, "b"),
      keys.testSet(aKey, "digest"),
      keys.testSetPart(aKey, "digest", 1),
      keys.testSetTold(aKey, "digest", "another"),
      keys.testSetBase(aKey, "job"),
      keys.testUpload(aKey, at, "u"),
      keys.testUploadRecord(aKey, "u"),
      keys.failuresIn(aKey, "2026-01-01", "t", 1),
      keys.test(aKey, "t"),
      keys.testSettings(aKey),
      keys.testsDue(aKey),
      keys.bundle("b"),
      keys.waking("w-start"),
      keys.installation("github.com", 1),
      keys.installationOn("github.com", "o"),
      keys.installationOf(aKey.org, "github.com", "o"),
      keys.delivery("github.com", "d"),
      keys.githubBudget("github.com", 1, at),
      keys.githubRun(aKey.org, runId("r")),
      keys.githubBuried(aKey.org, runId("r")),
      keys.githubStep(aKey.org, aKey.repo, "parent", "head"),
      keys.githubRepository(aKey.org, aKey.repo),
      keys.githubName(aKey.org, aKey.repo, 1),
    ];
    const without = made.map((key) => key.pk.split("#")[0]).filter((first) => first !== "acme");
    expect(without).toEqual([...WITHOUT_TENANT]);
  });

  test("keys of numbers and times sort as the numbers and times do", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_294_967_295 }), fc.integer({ min: 1, max: 4_294_967_295 }), (a, b) => {
        expect(keys.entry(aKey, a).sk < keys.entry(aKey, b).sk).toBe(a < b);
        expect(keys.inbox(aKey, epochMs(a), "").sk < keys.inbox(aKey, epochMs(b), "").sk).toBe(a < b);
      }),
    );
  });
});
