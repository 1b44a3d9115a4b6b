import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commitSha, orgSlug, type QueueKey, runId } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { Table } from "../../../shared/table/client.ts";
import { githubBudgets } from "../../../shared/table/github-budget.ts";
import { heardStore } from "../../../shared/table/github-heard.ts";
import { githubMemory } from "../../../shared/table/github-memory.ts";
import { githubShown } from "../../../shared/table/github-shown.ts";
import { healthStore } from "../../../shared/table/health-store.ts";
import { idempotencyStore } from "../../../shared/table/idempotency.ts";
import { installationStore } from "../../../shared/table/installations.ts";
import { findOrganization } from "../../../shared/table/organizations.ts";
import { queueStore } from "../../../shared/table/queue-store.ts";
import { targetsStore } from "../../../shared/table/targets-store.ts";
import { tokenStore } from "../../../shared/table/tokens.ts";
import { windowStore } from "../../../shared/table/window-store.ts";
import { sourcesUnder } from "../../architecture/source.ts";
import { startTable, type TestTable } from "../../support/table.ts";
import { entityOf, goldenFiles, type RawItem } from "./items.ts";

const ORG = orgSlug("local");
const REPO = { host: "git.local", owner: "acme", name: "app" };
const KEY: QueueKey = { org: ORG, repo: REPO, branch: "release#1" };
const OF = { org: ORG, repo: REPO };
/** When the first file was written. */
const THEN = epochMs(Date.parse("2026-11-21T20:00:00Z"));
const [LONG_BEFORE, LONG_AFTER] = [epochMs(THEN - 3_600_000), epochMs(THEN + 10 * 365 * 86_400_000)];

let tables: TestTable;
beforeAll(async () => {
  tables = await startTable();
});
afterAll(() => tables.stop());

async function holding(items: readonly RawItem[]): Promise<Table> {
  const table = await tables.another();
  for (const Item of items) await table.client.send(new PutItemCommand({ TableName: table.name, Item }));
  return table;
}

const blobs = { put: async () => {}, get: async () => undefined };

/** Every kind of item, with the version that is written now. */
const written = sourcesUnder("shared/table").flatMap(({ text }) =>
  [...text.matchAll(/entity: z\.literal\("(\w+)"\),\s*schema: z\.literal\((\d+)\)/gu)].map((match) => ({
    entity: match[1] ?? "",
    version: Number(match[2]),
  })),
);

describe("what earlier versions of the service wrote", () => {
  it("is kept here for every kind of item and every version of it that a table may hold", () => {
    expect(written.length).toBeGreaterThan(25);
    const kept = new Set([...goldenFiles().values()].flat().map(entityOf));
    const versions = written.flatMap(({ entity, version }) =>
      Array.from({ length: version }, (_, at) => `${entity} ${at + 1}`),
    );
    expect(versions.filter((one) => !kept.has(one))).toEqual([]);
  });

  it("is lifted wherever it is read: no shape of an item stands without its versions", () => {
    const bare = sourcesUnder("shared/table").flatMap(({ path, text }) => {
      const shapes = text.match(/entity: z\.literal\("/gu)?.length ?? 0;
      const lifted =
        text.match(/versioned\(\s*z\s*\.(?:object|looseObject)\(\{\s*entity: z\.literal\("/gu)?.length ?? 0;
      return shapes === lifted ? [] : [path];
    });
    expect(bare).toEqual([]);
  });
});

describe.each([...goldenFiles()])("the items of %s are read by today's code", (_name, items) => {
  let table: Table;
  beforeAll(async () => {
    table = await holding(items);
  });

  it("queues: settings, entries in their states, runs, what waits to be folded and to be performed", async () => {
    const queues = queueStore(table);
    expect(await queues.list(ORG, REPO)).toEqual([KEY]);
    const queue = await queues.load(KEY);
    expect(queue?.record.config.settings).toMatchObject({ mode: "PARALLEL", concurrency: 7, mergeMethod: "SQUASH" });
    expect(queue?.meta.totals).toMatchObject({ merged: 1, landings: 1, runsStarted: 3 });
    expect(queue?.entries.map(({ entry, seen }) => [entry.prNumber, entry.state, seen, entry.priority.value])).toEqual([
      [2, "TESTING", true, 100],
      [3, "PENDING", true, 10],
      [4, "NOT_READY", false, 100],
    ]);
    expect(queue?.entries.map(({ entry }) => entry.targets?.kind)).toEqual(["SET", "ALL", undefined]);
    expect([...(queue?.state.runs.values() ?? [])].map(({ phase }) => phase).toSorted()).toEqual([
      "BUILDING",
      "TESTING",
    ]);
    expect(queue?.inbox.map(({ event }) => event)).toEqual([{ type: "wake" }]);
    expect(await queues.waitingEffects(KEY, LONG_AFTER)).toEqual([expect.stringMatching(/^build-run:/u)]);
    const [effect = ""] = await queues.waitingEffects(KEY, LONG_AFTER);
    expect((await queues.claim(KEY, effect, LONG_AFTER, 1))?.effect.type).toBe("build-run");
    expect((await queues.due()).map(({ key }) => key)).toEqual([KEY]);
  });

  it("maintenance windows: once and recurring, what their schedules should be", async () => {
    const windows = windowStore(table);
    const times = (await windows.of(KEY))?.windows.map((one) => [one.action, one.times.kind, one.durationMinutes]);
    expect(times).toEqual([
      ["DRAIN", "ONCE", 60],
      ["PAUSE", "RECURRING", 60],
    ]);
    const changes = await windows.changes();
    expect(changes.map(({ wanted }) => wanted?.when.kind)).toEqual(["AT", undefined, "CRON"]);
    const [open] = (await queueStore(table, undefined, () => THEN).load(KEY))?.record.config.windows ?? [];
    expect(open).toMatchObject({ action: "DRAIN", startsAt: expect.any(Number) });
  });

  it("what has ended: the entry, its place in the history, its run, its timeline, its branch", async () => {
    const queues = queueStore(table);
    const { entries } = await queues.history(KEY, { take: 10 });
    expect(entries.map(({ prNumber, state }) => [prNumber, state])).toEqual([[1, "MERGED"]]);
    const [ended] = entries;
    const run = ended?.verifiedBy ?? undefined;
    if (ended === undefined || run === undefined) throw new Error("no run");
    expect((await queues.endedRun(KEY, run))?.outcome).toBe("SUCCEEDED");
    expect((await queues.timeline(KEY, 1, ended.id)).map(({ to }) => to)).toEqual([
      "MERGED",
      "TESTS_PASSED",
      "TESTING",
      "PENDING",
      "NOT_READY",
    ]);
    expect((await queues.submissions(KEY, [1])).get(1)?.entry.id).toBe(ended.id);
    expect(await queues.prNumberOfBranch(KEY, ended.pr?.headBranch ?? "")).toBe(1);
  });

  it("impacted targets and the sets that they are compared by", async () => {
    const targets = targetsStore(table, blobs);
    const [one, two] = await Promise.all(
      ["686561642d312e2e2e2e2e2e2e2e2e2e2e2e2e2e", "686561642d332e2e2e2e2e2e2e2e2e2e2e2e2e2e"].map((sha, at) =>
        targets.find(ORG, REPO, 1 + 2 * at, commitSha(sha)),
      ),
    );
    expect([one?.source, one?.shown, two?.targets.kind]).toEqual(["UPLOAD", ["//web:app", "//lib:strings"], "ALL"]);
    if (one?.targets.kind !== "SET") throw new Error("no set");
    expect((await targets.hashes(ORG, [one.targets])).get(one.targets.digest)?.length).toBe(4);
  });

  it("organizations, tokens, and answers kept under an idempotency key", async () => {
    expect((await findOrganization(table, ORG))?.slug).toBe(ORG);
    const [token] = await tokenStore(table).list(ORG);
    expect(token).toMatchObject({ name: "admin", scopes: ["read", "submit", "admin"], revokedAt: null });
    const hash = items.find((item) => item["pk"]?.S?.startsWith("=TOKEN#") === true)?.["hash"]?.S ?? "";
    expect(await tokenStore(table).findByHash(hash)).toEqual(token);
    const record = items.find((item) => item["entity"]?.S === "IDEMPOTENCY")?.["fingerprint"]?.S ?? "";
    const key = { org: ORG, tokenId: token?.tokenId ?? "", route: "create-queue", key: "golden" };
    const begun = await idempotencyStore(table).begin(key, record, LONG_BEFORE);
    expect(begun).toMatchObject({ kind: "replay", status: 200 });
  });

  it("GitHub: whose an installation is, runs, and what was merged onto what", async () => {
    const installations = installationStore(table);
    const known = { org: ORG, host: "github.com", id: 4711, account: "acme" };
    expect(await installations.byId("github.com", 4711)).toEqual(known);
    expect(await installations.ofAccount(ORG, "github.com", "acme")).toEqual(known);
    const memory = githubMemory(table, ORG, () => THEN);
    expect(await memory.run(runId("run-1"))).toMatchObject({ pullRequest: 7, repeats: 1, closed: false });
    expect([await memory.isBuried(runId("run-1")), await memory.isBuried(runId("run-2"))]).toEqual([false, true]);
    const repo = { ...REPO, host: "github.com" };
    expect(await memory.repository(repo)).toMatchObject({ id: 40_000_000_001, owner: "acme", name: "App" });
    expect(await memory.repositoriesOfId("github.com", 40_000_000_001)).toEqual([repo]);
    const budget = await githubBudgets(table, "github.com")(4711).read(THEN);
    expect(budget).toMatchObject({ waitUntil: THEN + 30_000, minute: { now: { points: 5, content: 1 } } });
    expect(budget).toMatchObject({ hour: { now: { content: 1 } }, requests: { remaining: 4_321, limit: 5_000 } });
    const heard = heardStore(table, () => THEN);
    expect(await heard.of({ org: ORG, repo, branch: "main" }, 1)).toEqual({
      revision: 1,
      done: [40_000_000_002],
      lastMerge: 40_000_000_002,
      lastCancel: 0,
      label: { event: 40_000_000_003, entry: "entry-1" },
      said: { text: "it is landing", at: THEN },
      explainedAt: THEN,
    });
    const looked = await heard.lookedThrough(ORG, repo);
    expect(looked).toEqual({ lookedAt: THEN, commentsSince: THEN, pullsSince: THEN });
    const shown = await githubShown(table, ORG, () => LONG_AFTER).hold({ repo, prNumber: 1, branch: "main" });
    expect(shown?.shown).toEqual({
      comment: { id: 40_000_000_004, digest: "comment", again: false },
      check: { id: 40_000_000_005, headSha: "b".repeat(40), digest: "check", open: true },
      labels: "labels",
      answer: null,
      refused: { labels: "refused" },
    });
    const step = { parent: commitSha("a".repeat(40)), head: commitSha("b".repeat(40)) };
    expect(await memory.step(repo, step)).toEqual({
      commit: "c".repeat(40),
      tree: "d".repeat(40),
    });
  });

  it("test health: settings, tests, uploads, failures, sets whole and in parts, bundles, what is due", async () => {
    const health = healthStore(table, () => THEN);
    expect(await health.settings(OF)).toMatchObject({ quarantinesFlaky: true });
    expect((await health.allTests(OF)).map(({ name }) => name)).toEqual(["shaky"]);
    const [upload] = await health.uploads(OF, LONG_BEFORE, LONG_AFTER);
    expect(upload).toMatchObject({ tests: 2, failed: 1, job: "unit" });
    const at = upload?.at ?? THEN;
    const failures = await health.failures(OF, epochMs(at - 1), epochMs(at + 1));
    expect(failures.map(({ failed }) => failed)).toEqual([1]);
    const sets = await health.sets(OF, [upload?.executed ?? "", "in-parts"]);
    expect([...sets.values()].map(({ size }) => size)).toEqual([2, 2]);
    expect((await health.upload(OF, upload?.id ?? ""))?.state).toBe("PROCESSED");
    const [bundle] = await health.bundles();
    expect((await health.upload(OF, bundle?.id ?? ""))?.state).toBe("WAITING");
    expect((await health.due(LONG_AFTER)).map(({ repository }) => repository)).toEqual([OF]);
    const base = items.find((item) => item["entity"]?.S === "TEST_SET_BASE")?.["digest"]?.S;
    expect(await health.keepSet(OF, "unit", ["another"])).not.toBe(base);
  });
});
