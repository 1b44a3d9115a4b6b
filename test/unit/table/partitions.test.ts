import { describe, expect, test } from "vitest";
import { commitSha, orgSlug, type QueueKey, runId } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { keys, WITHOUT_TENANT } from "../../../shared/table/keys.ts";
import { PARTITIONS, type Partition } from "../../../shared/table/partitions.ts";
import { partitionOf } from "../../infra/recorder.ts";

/** Names that look like the words of keys, and hold what keys are made with. */
const NAMES = ["QUEUE", "TOKENS", "a#QUEUE", "=TOKEN", "x*y", "%23"];
const org = orgSlug("acme");

function partitionsWith(name: string): Readonly<Record<Partition, string>> {
  const repo = { host: "git.local", owner: name, name };
  const key: QueueKey = { org, repo, branch: name };
  const of = { org, repo };
  return {
    tokenByHash: keys.tokenByHash("0".repeat(64)).pk,
    due: keys.due(key).pk,
    testsDue: keys.testsDue(of).pk,
    bundles: keys.bundle(name).pk,
    wakings: keys.allWakings(),
    installation: keys.installation(name, 1).pk,
    account: keys.installationOn(name, name).pk,
    delivery: keys.delivery(name, name).pk,
    githubBudget: keys.githubBudget(name, 1, epochMs(0)).pk,
    idempotency: keys.idempotency(org, name, "get-queue", name).pk,
    branch: keys.branchPointer(key, name).pk,
    organization: keys.organization(org).pk,
    tokens: keys.tokensOf(org),
    installations: keys.installationOf(org, name, name).pk,
    githubRun: keys.githubRun(org, runId(name)).pk,
    githubStep: keys.githubStep(org, repo, "a".repeat(40), "b".repeat(40)).pk,
    githubRepositories: keys.githubRepository(org, repo).pk,
    githubNames: keys.githubNamesOf(org, name, 1),
    heardIn: keys.heardIn(org, repo).pk,
    queues: keys.queuesOf(org),
    queue: keys.queue(key),
    pullRequest: keys.pullRequest(key, 1),
    history: keys.history(key),
    endedRun: keys.endedRun(key, runId(name)).pk,
    log: keys.log(key),
    targets: keys.targets(org, repo, 1, commitSha("a".repeat(40))).pk,
    targetHashes: keys.targetHashes(org, "a".repeat(64)).pk,
    testSet: keys.testSet(of, "digest").pk,
    testSetBases: keys.testSetBase(of, name).pk,
    testUploads: keys.testUploads(of),
    testUpload: keys.testUploadRecord(of, name).pk,
    failures: keys.failuresOn(of, "2027-01-31"),
    tests: keys.tests(of),
    testSettings: keys.testSettings(of).pk,
  };
}

const fits = (pattern: string, pk: string): boolean => new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "su").test(pk);

describe("kinds of partitions", () => {
  test.each(NAMES)("every partition key fits the pattern of its own kind, whatever people call things: %s", (name) => {
    const misfits = Object.entries(partitionsWith(name)).filter(([kind, pk]) => {
      const pattern = Object.entries(PARTITIONS).find(([one]) => one === kind)?.[1];
      return pattern === undefined || !fits(pattern, pk);
    });
    expect(misfits).toEqual([]);
  });

  test("no name makes a tenant's key fit what belongs to no tenant, and no tenant is named so", () => {
    for (const name of NAMES)
      for (const [kind, pk] of Object.entries(partitionsWith(name))) {
        const isShared = WITHOUT_TENANT.some((first) => pk === first || pk.startsWith(`${first}#`));
        expect([kind, pk.startsWith("=")]).toEqual([kind, isShared]);
        if (!isShared) expect(partitionOf(pk).length).toBeGreaterThan(0);
      }
  });

  test("with plain names each key has exactly its kind", () => {
    const kinds = Object.entries(partitionsWith("app")).map(([kind, pk]) => [kind, partitionOf(pk)]);
    expect(kinds.filter(([kind, found]) => kind !== found)).toEqual([]);
    expect(kinds.map(([kind]) => String(kind)).toSorted()).toEqual(Object.keys(PARTITIONS).toSorted());
  });

  test("a time makes no other kind", () => {
    const key: QueueKey = { org, repo: { host: "h", owner: "o", name: "n" }, branch: "main" };
    expect(partitionOf(keys.inbox(key, epochMs(0), "x").pk)).toBe("queue");
    expect(partitionOf(keys.logLine(key, epochMs(0), 1).pk)).toBe("log");
  });
});
