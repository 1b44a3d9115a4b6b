/** What is deployed is what is run here: every bundle, in a process of its own, against a real table. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { sign } from "@octokit/webhooks-methods";
import type { DynamoDBRecord } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Bundle, bundleFunctions, LEFT_OUT } from "../../infra/bundle.ts";
import { insertsOf } from "../../infra/local/stream-record.ts";
import { streamOf, streamReader } from "../../infra/local/stream-reader.ts";
import { WORKERS } from "../../infra/workers.ts";
import { hashToken, mintToken } from "../../shared/auth/token-format.ts";
import { allRoutes, routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/route.ts";
import { orgSlug } from "../../shared/kernel/ids.ts";
import { systemClock, toRfc3339, epochMs } from "../../shared/kernel/time.ts";
import { connection } from "../../shared/table/client.ts";
import { installationStore } from "../../shared/table/installations.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import { startGitHubTwin } from "../support/github/twin.ts";
import { type Ran, runBundle } from "../support/bundles.ts";
import { gatewayEvent } from "../support/gateway-event.ts";
import { BUCKET, type S3, startS3 } from "../support/s3.ts";
import { type Secrets, startSecrets } from "../support/secrets.ts";
import { startTable, type TestTable } from "../support/table.ts";

const AT_ONCE = 2;
/** Their list is their own: a bundle that gets a client that it does not need starts later. */
const WITH_BUCKET = [
  "create-bundle-upload",
  "create-impacted-targets-upload",
  "read-bundles",
  "run-effects",
  "set-impacted-targets",
  "sweep",
];
const WITH_SCHEDULER = ["sweep"];
const WITH_GITHUB = [
  "get-test-details",
  "list-failing-tests",
  "list-quarantined-tests",
  "list-unhealthy-tests",
  "run-effects",
  "set-impacted-targets",
  "submit-pull-request",
  "sweep",
];
/** What hears GitHub and asks it nothing needs the secret of its webhooks. */
const WITH_SECRET = [...WITH_GITHUB, "receive-github-webhook"];
const SECRET = "mainline-test-github-app";
const SECRET_ARN = `arn:aws:secretsmanager:eu-central-1:123456789012:secret:${SECRET}-AbCdEf`;
const token = mintToken(randomBytes);

let outDir = "";
let bundles: readonly Bundle[] = [];
let table: TestTable;
let s3: S3;
let secrets: Secrets;
/** Agrees to everything. */
const scheduler = createServer((_, response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(`{"ScheduleArn":"arn:aws:scheduler:::s"}`),
);
const addressOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`;
};
const listening = async (server: Server): Promise<void> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
};
const env = () => ({
  AWS_REGION: "eu-central-1",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI",
  AWS_SESSION_TOKEN: "a-session",
  AWS_ENDPOINT_URL_SCHEDULER: addressOf(scheduler),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
  AWS_LAMBDA_FUNCTION_NAME: "mainline-test-function",
  MAINLINE_TABLE: table.name,
  MAINLINE_STAGE: "test",
  MAINLINE_BUCKET: BUCKET,
  MAINLINE_S3_ENDPOINT: s3.endpoint,
  MAINLINE_GITHUB_SECRET_ARN: SECRET_ARN,
  DYNAMODB_ENDPOINT: table.endpoint,
  MAINLINE_SCHEDULER_GROUP: "mainline-test",
  MAINLINE_SCHEDULER_ROLE_ARN: "arn:aws:iam::123456789012:role/scheduler",
  MAINLINE_WINDOW_FUNCTION_ARN: "arn:aws:lambda:eu-central-1:123456789012:function:mainline-test-maintenance-window",
  MAINLINE_SCHEDULER_DLQ_ARN: "arn:aws:sqs:eu-central-1:123456789012:mainline-test-dead-letters",
});

beforeAll(async () => {
  await listening(scheduler);
  outDir = mkdtempSync(join(tmpdir(), "mainline-bundles-"));
  [bundles, table, s3, secrets] = await Promise.all([bundleFunctions(outDir), startTable(), startS3(), startSecrets()]);
  secrets.values.set(SECRET, undefined);
  await tokenStore(table).add({
    org: orgSlug("acme"),
    tokenId: "t1",
    hash: hashToken(token),
    name: "ci",
    scopes: ["read", "submit", "admin"],
    enumCase: "upper",
    createdAt: systemClock(),
    expiresAt: null,
  });
});
afterAll(async () => {
  await Promise.all([table.stop(), s3.stop()]);
  secrets.stop();
  scheduler.closeAllConnections();
  scheduler.close();
  rmSync(outDir, { recursive: true, force: true });
});

function bundleOf(id: string): Bundle {
  const found = bundles.find((bundle) => bundle.id === id);
  if (found === undefined) throw new Error(`there is no bundle of ${id}`);
  return found;
}

const run = (id: string, event: unknown = {}): Promise<Ran> => runBundle(bundleOf(id), env(), event);

const apiAnswer = z.strictObject({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

const authorized = z.strictObject({ isAuthorized: z.literal(true), context: z.record(z.string(), z.unknown()) });
let principal: unknown;
const authorize = async (sent: string) =>
  authorized.parse(
    (await run("authorize-token", { version: "2.0", type: "REQUEST", headers: { "x-api-token": sent } })).answer,
  );

/** As the gateway would: the authorizer's bundle first, then the route's. */
async function call(route: Pick<Route, "id" | "method" | "path" | "body">, sent: Sent = {}) {
  const ran = await run(route.id, gatewayEvent({ route, context: principal, ...sent }));
  return { ...apiAnswer.parse(ran.answer), lines: ran.lines };
}

type Sent = { readonly input?: Readonly<Record<string, unknown>>; readonly file?: string };

const repo = { host: "git.local", owner: "acme", name: "app" };
const HOUR_MS = 3_600_000;
/** Means something to every route: fields that one does not know it ignores. */
const INPUT = {
  repo,
  targetBranch: "main",
  pr: { number: 1, sha: "1".repeat(40) },
  prs: [{ number: 1 }],
  org_url_slug: "acme",
  orgUrlSlug: "acme",
  start_time: toRfc3339(epochMs(Date.now() - HOUR_MS)),
  end_time: toRfc3339(epochMs(Date.now())),
  test_id: "t",
  test_case_id: "t",
  external_ticket_id: "A-1",
  setting: "ALWAYS_QUARANTINE",
  upload_id: "u",
  testIdentifiers: [],
  action: "drain",
  durationMinutes: 30,
  windowId: "w",
};
const JUNIT = `<testsuites><testsuite name="s"><testcase classname="c" name="passes"/></testsuite></testsuites>`;
/** What differs from that. */
const OWN: Readonly<Record<string, Sent>> = {
  // More than an item of the table holds: they go to the bucket.
  "set-impacted-targets": {
    input: { ...INPUT, impactedTargets: Array.from({ length: 40_000 }, (_, at) => `//t:${at}`) },
  },
  "upload-test-results": {
    input: { repo: "acme/app", repoHost: "git.local", sha: "1".repeat(40), branch: "main" },
    file: JUNIT,
  },
  "delete-queue": { input: { ...INPUT, targetBranch: "empty" } },
  "get-merge-queue-metrics": { input: {} },
};
/** All others answer 200. */
const STATUS: Readonly<Record<string, readonly number[]>> = {
  "get-merge-queue-testing-details": [404],
  "set-quarantine": [404],
  "link-ticket-to-test-case": [404],
  "get-test-details": [404],
  "get-upload": [404],
  "cancel-maintenance": [404],
  "restart-tests-on-pull-request": [200, 409],
  // The secret holds no App: nothing is let in.
  "receive-github-webhook": [401],
};

const FIRST = ["create-queue", "submit-pull-request"];
const LAST = ["cancel-pull-request"];
const routesIn = (ids: readonly string[]) => ids.flatMap((id) => allRoutes.filter((route) => route.id === id));

async function inTurn<T>(works: readonly (() => Promise<T>)[], atOnce: number): Promise<void> {
  const left = [...works];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await next();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Everything of this kind that the stream has, as Lambda hands it to a function. */
async function recordsOf(skPrefix: string): Promise<readonly DynamoDBRecord[]> {
  const client = new DynamoDBStreamsClient(connection(table));
  const start = { stream: await streamOf(table), finished: [], shard: null, sequence: null };
  const reader = streamReader(client, start);
  const seen: DynamoDBRecord[] = [];
  // Some answers are empty though there is more: at the end of a shard, for one.
  for (let empty = 0; empty < 5; ) {
    const records = await reader.next();
    seen.push(...records);
    empty = records.length === 0 ? empty + 1 : 0;
  }
  client.destroy();
  return seen.filter(insertsOf(skPrefix));
}

describe("every bundle", () => {
  it("is of a route or of a worker, and every one of these is bundled", () => {
    const expected = [...allRoutes.map(({ id }) => id), "unknown-path", ...WORKERS.map(({ name }) => name)];
    expect(bundles.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  it("is one file and its map, that ask for nothing but Node and what a function never loads", () => {
    for (const { id, path, asks } of bundles) {
      expect([id, ...readdirSync(path).toSorted()]).toEqual([id, "index.mjs", "index.mjs.map"]);
      const missing = asks.filter((name) => !isBuiltin(name) && !LEFT_OUT.includes(name));
      expect([id, ...missing]).toEqual([id]);
    }
  });

  it("holds nothing of the tests or of the local server, and S3 only where the bucket is used", () => {
    const using = (of: RegExp) =>
      bundles.filter(({ inputs }) => [...inputs.keys()].some((file) => of.test(file))).map(({ id }) => id);
    expect(using(/^(?:test|infra)\//u)).toEqual([]);
    expect(using(/client-s3\//u).toSorted()).toEqual(WITH_BUCKET);
    expect(using(/client-scheduler\//u)).toEqual(WITH_SCHEDULER);
    expect(using(/client-secrets-manager\//u).toSorted()).toEqual(WITH_SECRET.toSorted());
    expect(using(/@octokit\/(?:core|auth-app)\//u).toSorted()).toEqual(WITH_GITHUB);
    expect(using(/prom-client\//u)).toEqual(["get-merge-queue-metrics"]);
    expect(using(/(?:saxes|htmlparser2)\//u).toSorted()).toEqual(["read-bundles", "upload-test-results"]);
    expect(using(/zod\/v4\/locales\/(?!en\.)/u)).toEqual([]);
  });

  it("answers as the service does, from the gateway's event to the table and back", async () => {
    const wrong: string[] = [];
    const check = (route: Route) => async (): Promise<void> => {
      const { statusCode, body, headers } = await call(route, OWN[route.id] ?? { input: INPUT });
      const isExpected = (STATUS[route.id] ?? [200]).includes(statusCode);
      const isOurs = headers["x-request-id"] === "JKJaXmPLvHcESHA=";
      const media = statusCode === 200 ? route.media : "application/json";
      if (!isExpected || !isOurs || headers["content-type"] !== media)
        wrong.push(`${route.id}: ${statusCode} ${JSON.stringify(headers)} ${body.slice(0, 300)}`);
    };
    ({ context: principal } = await authorize(token));
    await call(routes["create-queue"], { input: { ...INPUT, targetBranch: "empty" } });
    for (const route of routesIn(FIRST)) await check(route)();
    const others = allRoutes.filter(({ id }) => !FIRST.includes(id) && !LAST.includes(id));
    await inTurn(others.map(check), AT_ONCE);
    for (const route of routesIn(LAST)) await check(route)();
    expect(wrong).toEqual([]);
    expect([...s3.objects.keys()]).toEqual([expect.stringMatching(/^targets\/acme\/[0-9a-f]{64}$/u)]);
    const unknown = await call({ id: "unknown-path", method: "POST", path: "/nothing" });
    expect(unknown.statusCode).toBe(404);
  });

  it("works on the stream's records, and names the one that it cannot work on", async () => {
    await call(routes["submit-pull-request"], { input: { ...INPUT, pr: { number: 2 } } });
    for (const [id, skPrefix] of [["advance-queue", "4#INBOX#"] as const, ["run-effects", "5#EFFECT#"] as const]) {
      const records = await recordsOf(skPrefix);
      const poison = { ...records[0], dynamodb: { ...records[0]?.dynamodb, NewImage: {}, SequenceNumber: "poison" } };
      const { answer, lines } = await run(id, { Records: [poison, ...records] });
      expect([id, answer]).toEqual([id, { batchItemFailures: [{ itemIdentifier: "poison" }] }]);
      expect(lines.map(({ message }) => message)).toEqual(["a stream record could not be worked on"]);
    }
    // No code host is connected: said to the queue, and by the queue to whoever asks.
    await run("advance-queue", { Records: await recordsOf("4#INBOX#") });
    const explained = await call(routes["explain-pull-request"], { input: { ...INPUT, pr: { number: 2 } } });
    expect(explained.body).toMatch(/no code host is connected for git\.local/iu);
  });

  it("finds an App in its secret, asks GitHub as it, and hears what is signed with its webhook secret", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mainline-bundles-github-"));
    const twin = await startGitHubTwin({ folder });
    await twin.addRepository("acme/app", { files: { "a.txt": "1\n" } });
    const id = await twin.installation("acme");
    const ours = { org: orgSlug("acme"), host: "github.com", id, account: "acme" };
    await installationStore(table).link(ours, systemClock());
    const number = await twin.openPullRequest("acme/app", { head: "one", base: "main", files: { "b.txt": "b\n" } });
    const input = { ...INPUT, repo: { ...repo, host: "github.com" }, pr: { number } };
    try {
      await call(routes["create-queue"], { input });
      const before = await call(routes["submit-pull-request"], { input: { ...input, pr: { number: 99 } } });
      expect(before.statusCode).toBe(200);
      secrets.values.set(SECRET, JSON.stringify({ ...twin.app, api: twin.url, web: twin.url }));
      const reads = secrets.requests.length;
      const submitted = await call(routes["submit-pull-request"], { input });
      expect(JSON.parse(submitted.body)).toMatchObject({ prTitle: "Change one", prSha: expect.any(String) });
      const none = await call(routes["submit-pull-request"], { input: { ...input, pr: { number: 77 } } });
      expect(none.body).toContain("has no pull request #77");
      expect(secrets.requests.length).toBe(reads + 2);
      const file = JSON.stringify({ installation: { id } });
      const event = gatewayEvent({ route: routes["receive-github-webhook"], file });
      const headers = { ...event.headers, "x-github-event": "ping", "x-github-delivery": "d-1" };
      const signed = async (key: string) =>
        run("receive-github-webhook", {
          ...event,
          headers: { ...headers, "x-hub-signature-256": await sign(key, file) },
        });
      expect((await signed(twin.app.webhookSecret)).answer).toMatchObject({ statusCode: 200 });
      expect((await signed("another")).answer).toMatchObject({ statusCode: 401 });
    } finally {
      secrets.values.set(SECRET, undefined);
      await twin.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each(["sweep", "judge-tests", "read-bundles"])("of %s runs when the schedule says so", async (id) => {
    const tick = { version: "0", source: "aws.events", "detail-type": "Scheduled Event", detail: {} };
    expect(await run(id, tick)).toEqual({ answer: null, isLate: false, lines: [] });
  });

  it("reads a bundle of test results that was put to the bucket", async () => {
    s3.place("uploads/none", Buffer.from("not asked for"));
    const { body } = await call(routes["create-bundle-upload"], { input: INPUT });
    const { id, url } = z.looseObject({ id: z.string(), url: z.string() }).parse(JSON.parse(body));
    expect((await fetch(url, { method: "PUT", body: "no archive" })).status).toBe(200);
    await run("read-bundles");
    const read = await call(routes["get-upload"], { input: { ...INPUT, upload_id: id } });
    expect(JSON.parse(read.body)).toMatchObject({ upload_id: id, state: "FAILED" });
    expect([...s3.objects.keys()].filter((key) => key.startsWith("bundles/"))).toEqual([]);
  });

  it("lets nobody in without a principal, whatever the token was", async () => {
    for (const sent of [mintToken(randomBytes), "nonsense"]) {
      const { context } = await authorize(sent);
      expect(context).toEqual({});
      const event = gatewayEvent({ route: routes["list-queues"], context });
      expect((await run("list-queues", event)).answer).toMatchObject({ statusCode: 401 });
    }
  });

  it("logs one line of JSON that names stage, function and both ids, and no secret", async () => {
    const { lines } = await call(routes["get-queue"], { input: INPUT });
    expect(lines).toMatchObject([
      { stage: "test", function_name: "get-queue", function_request_id: "invocation-1", requestId: "JKJaXmPLvHcESHA=" },
    ]);
    expect(JSON.stringify(lines)).not.toContain(token);
  });

  it("says at once everything that is wrong with its environment", async () => {
    const bare = { MAINLINE_STAGE: "No", MAINLINE_S3_ENDPOINT: "nowhere" };
    const answer = runBundle(bundleOf("read-bundles"), bare, {});
    await expect(answer).rejects.toThrow(
      /MAINLINE_TABLE is missing; MAINLINE_STAGE must be .*; MAINLINE_BUCKET is missing; MAINLINE_S3_ENDPOINT must be/u,
    );
  });

  it("answers before its time is over, and says that it may be tried again", async () => {
    const silent = createServer(() => {});
    await listening(silent);
    const hanging = { ...env(), DYNAMODB_ENDPOINT: addressOf(silent) };
    const event = gatewayEvent({ route: routes["list-queues"], context: principal });
    const { answer, isLate } = await runBundle(bundleOf("list-queues"), hanging, event, 3_000);
    expect([answer, isLate]).toMatchObject([{ statusCode: 503 }, false]);
    silent.closeAllConnections();
    silent.close();
  });
});
