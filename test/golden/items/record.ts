/**
 * `node test/golden/items/record.ts <file>`: what the service of today writes, every kind of item, as the table holds
 * it. Run once for each new version of an item, into a new file: the old files are what tables out there hold.
 */
import { writeFileSync } from "node:fs";
import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { LOCAL_ORG } from "../../../infra/local/admin-token.ts";
import { commitSha, entryId, type QueueKey, type RepoKey, runId, treeSha } from "../../../shared/kernel/ids.ts";
import { later, systemClock } from "../../../shared/kernel/time.ts";
import { advance } from "../../../shared/queue/app/advance.ts";
import type { Table } from "../../../shared/table/client.ts";
import { githubBudgets } from "../../../shared/table/github-budget.ts";
import { heardStore } from "../../../shared/table/github-heard.ts";
import { githubMemory } from "../../../shared/table/github-memory.ts";
import { githubShown } from "../../../shared/table/github-shown.ts";
import { installationStore } from "../../../shared/table/installations.ts";
import { keys } from "../../../shared/table/keys.ts";
import { firstRun, passes, settles } from "../../bench/loop.ts";
import { factsOf } from "../../bench/scripted-host.ts";
import { succeeded } from "../../bench/http-client.ts";
import { type BenchService, requestOf, startService } from "../../bench/service.ts";
import { toText } from "./items.ts";

/** A branch whose name has to be encoded in keys. */
const KEY: QueueKey = { org: LOCAL_ORG, repo: { host: "git.local", owner: "acme", name: "app" }, branch: "release#1" };
const REPO = { repo: KEY.repo, org_url_slug: LOCAL_ORG };
const JUNIT =
  '<testsuites><testsuite name="cart" file="src/cart.test.ts"><testcase classname="shop.Cart" name="adds"/>' +
  '<testcase classname="shop.Cart" name="shaky"><failure message="late"/></testcase></testsuite></testsuites>';

const jsonWith = (more: Record<string, string>) => ({ "content-type": "application/json", ...more });

/** One that landed, one being tested, one whose effects nobody has performed yet, one that nobody has seen yet. */
async function aQueue(service: BenchService): Promise<void> {
  const { client, app } = service;
  const at = requestOf(KEY);
  const body = Buffer.from(JSON.stringify({ ...at, mode: "PARALLEL", concurrency: 7 }));
  const headers = jsonWith({ "idempotency-key": "golden" });
  succeeded("/createQueue", await client.send("/createQueue", { body, headers }));
  const window = { ...at, action: "drain", durationMinutes: 60 };
  await client.post("/scheduleMaintenance", { ...window, startsAt: new Date(Date.now() + 86_400_000).toISOString() });
  await client.post("/scheduleMaintenance", { ...window, schedule: "0 0 1 1 ? *", timeZone: "Europe/Berlin" });
  const target = async (number: number, impactedTargets: unknown): Promise<void> => {
    const pr = { number, sha: factsOf(number, KEY.branch).headSha };
    await client.post("/setImpactedTargets", { ...at, pr, impactedTargets });
  };
  await target(1, ["//web:app", "//lib:strings"]);
  await target(2, ["//lib:strings"]);
  await target(3, "ALL");
  const submit = (number: number, more: object = {}) =>
    client.post("/submitPullRequest", { ...at, pr: { number }, ...more });
  for (const number of [1, 2]) await submit(number);
  await settles(service, KEY);
  await passes(service, KEY, await firstRun(service, KEY));
  await settles(service, KEY);
  await submit(3, { priority: "high" });
  await advance(app, KEY);
  await submit(4);
}

async function someTests({ client }: BenchService): Promise<void> {
  const facts = { repo: "acme/app", repoHost: "git.local", sha: "a".repeat(40), branch: "main", job: "unit" };
  const path = `/flaky-tests/upload-test-results?${new URLSearchParams(facts).toString()}`;
  const headers = { "content-type": "application/xml" };
  succeeded(path, await client.send(path, { body: Buffer.from(JUNIT), headers }));
  await client.post("/flaky-tests/update-settings", { ...REPO, quarantinesFlaky: true });
  const announced = { repo: KEY.repo, orgUrlSlug: LOCAL_ORG };
  await client.post("/metrics/createBundleUpload", announced);
}

/** What the connection to GitHub keeps. */
async function onGitHub({ table }: BenchService): Promise<void> {
  const [host, account] = ["github.com", "acme"];
  const repo = { host, owner: account, name: "app" };
  const now = systemClock();
  await installationStore(table).link({ org: LOCAL_ORG, host, id: 4711, account }, now);
  const memory = githubMemory(table, LOCAL_ORG, systemClock);
  const made = { commit: commitSha("c".repeat(40)), tree: treeSha("d".repeat(40)) };
  await memory.putStep(repo, { parent: commitSha("a".repeat(40)), head: commitSha("b".repeat(40)) }, made);
  await memory.putRepository(repo, { id: 40_000_000_001, owner: "acme", name: "App", account: "acme" });
  const told = { remaining: 4_321, limit: 5_000, resetAt: later(now, 1_800_000) };
  const budget = githubBudgets(table, host)(4711);
  await budget.spend(now, { points: 5, content: 1 }, told, null);
  await budget.wait(now, later(now, 30_000));
  await someSaid(table, repo);
  await somethingShown(table, repo);
  const superseded = [{ context: "unit", id: 12, completedAt: "2026-11-21T20:00:00Z" }];
  const branch = "mainline/pr-1/run-1";
  const run = {
    run: runId("run-1"),
    repo,
    branch,
    ...made,
    required: ["unit"],
    sources: [{ context: "unit", app: 15_368 }],
    pullRequest: 7,
    repeats: 1,
    superseded,
  };
  const repeating = { repeat: 2, superseded, attempts: { "30": 1 } };
  await memory.putRun({ ...run, repeating, closed: false });
  await memory.bury(runId("run-2"));
}

async function someSaid(table: Table, repo: RepoKey): Promise<void> {
  const heard = heardStore(table, systemClock);
  const key = { org: LOCAL_ORG, repo, branch: "main" };
  const now = systemClock();
  const said = { text: "it is landing", at: now };
  const label = { event: 40_000_000_003, entry: entryId("entry-1") };
  const next = { revision: 0, done: [40_000_000_002], lastMerge: 40_000_000_002, lastCancel: 0, label, said };
  await heard.write({ key, prNumber: 1, next: { ...next, explainedAt: now } }, []);
  await heard.look(LOCAL_ORG, repo, undefined, { lookedAt: now, commentsSince: now, pullsSince: now });
}

async function somethingShown(table: Table, repo: RepoKey): Promise<void> {
  const held = await githubShown(table, LOCAL_ORG, systemClock).hold({ repo, prNumber: 1, branch: "main" });
  const comment = { id: 40_000_000_004, digest: "comment", again: false };
  const check = { id: 40_000_000_005, headSha: "b".repeat(40), digest: "check", open: true };
  await held?.keep({ comment, check, labels: "labels", answer: null, refused: { labels: "refused" } });
  await held?.free();
}

/** A set in parts takes some 30,000 tests; here are two parts of one test each. */
async function aSetInParts({ table }: BenchService): Promise<void> {
  const of = { org: LOCAL_ORG, repo: KEY.repo };
  const end = { expiresAtSeconds: { N: "1999999999" }, schema: { N: "1" } };
  const [first, second] = [1, 2].map((last) => ({ B: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, last) }));
  const put = ({ pk, sk }: { pk: string; sk: string }, item: PutItemCommand["input"]["Item"]) =>
    table.client.send(
      new PutItemCommand({ TableName: table.name, Item: { pk: { S: pk }, sk: { S: sk }, ...end, ...item } }),
    );
  const none = { B: new Uint8Array() };
  const set = { entity: { S: "TEST_SET" }, added: none, removed: none, parts: { N: "2" } };
  await put(keys.testSet(of, "in-parts"), set);
  for (const [at, ids] of [first, second].entries())
    if (ids !== undefined) await put(keys.testSetPart(of, "in-parts", at), { entity: { S: "TEST_SET_PART" }, ids });
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("say where to: node test/golden/items/record.ts test/golden/items/v2.jsonl");
const service = await startService();
try {
  await aQueue(service);
  await someTests(service);
  await aSetInParts(service);
  await onGitHub(service);
  const { Items = [] } = await service.table.client.send(new ScanCommand({ TableName: service.table.name }));
  writeFileSync(file, toText(Items));
  process.stdout.write(`${Items.length} items\n`);
} finally {
  await service.stop();
}
