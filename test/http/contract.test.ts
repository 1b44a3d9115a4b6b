import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allRoutes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/route.ts";
import { DAY_MS, later, systemClock, toRfc3339 } from "../../shared/kernel/time.ts";
import { maintenanceWindow } from "../../shared/schemas/maintenance.ts";
import { contractProblems, documentedPaths, errorOf } from "../support/contract.ts";
import { aGate, type Gate } from "../support/gate.ts";
import type { Called } from "../support/server.ts";
import { aService, type Asks, type Fields, type QueueClient, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
let queue: QueueClient;
let head = "";
let windowId: unknown;
const inADay = (): string => new Date(Date.now() + 86_400_000).toISOString();
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
  const made = await service.queue({ name: "Acme/App", checks: { unit: gate.command } });
  queue = made.queue;
  head = made.repo.pullRequest(1, { files: { "a.txt": "1\n" } });
  made.repo.pullRequest(2, { files: { "b.txt": "1\n" } });
  await queue.submit(1);
  await queue.reaches(1, "TESTING");
  const window = { action: "pause", startsAt: inADay(), durationMinutes: 5 };
  ({ windowId } = maintenanceWindow.parse((await queue.asks("/scheduleMaintenance", window)).body));
});
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

/** A body that each endpoint takes, beyond what names the queue. */
const FIELDS: Readonly<Record<string, () => Fields>> = {
  "/submitPullRequest": () => ({ pr: { number: 1 } }),
  "/cancelPullRequest": () => ({ pr: { number: 1 } }),
  "/restartTestsOnPullRequest": () => ({ pr: { number: 1 } }),
  "/getSubmittedPullRequest": () => ({ pr: { number: 1 }, includeTimeline: true }),
  "/getSubmittedPullRequests": () => ({ prs: [{ number: 1 }, { number: 99 }] }),
  "/listPullRequests": () => ({}),
  "/setImpactedTargets": () => ({ pr: { number: 1, sha: head }, impactedTargets: ["a"] }),
  "/setImpactedTargets/upload": () => ({ pr: { number: 1, sha: head } }),
  "/getMergeQueueTestingDetails": () => ({ pr: { number: 1 } }),
  "/explainPullRequest": () => ({ pr: { number: 1 } }),
  "/createQueue": () => ({ targetBranch: "created" }),
  "/getQueue": () => ({}),
  "/updateQueue": () => ({ batchingRules: [{ targetPattern: "x", policy: "isolate" }] }),
  "/deleteQueue": () => ({ targetBranch: "created" }),
  "/listQueues": () => ({}),
  "/scheduleMaintenance": () => ({ action: "drain", startsAt: inADay(), durationMinutes: 5 }),
  "/listMaintenanceWindows": () => ({}),
  "/cancelMaintenance": () => ({ windowId }),
};
const QUEUE_PATHS = Object.keys(FIELDS);
const bodyOf = (path: string): Fields => ({ ...queue.at, ...FIELDS[path]?.() });

const routesBy = (is: (route: Route) => boolean): readonly (readonly [string, Route])[] =>
  allRoutes.filter(is).map((route) => [route.path, route] as const);
const send = (route: Route, asks: Asks): Promise<Called> =>
  route.method === "GET"
    ? asks(route.path, undefined, { method: "GET", body: null })
    : asks(route.path, FIELDS[route.path] === undefined ? {} : bodyOf(route.path));

describe("a good request", () => {
  it("is known for every endpoint of the document", () => {
    // Those of test health have a file of their own, and so has what GitHub sends.
    const others = /^\/(?:flaky-tests|metrics|webhooks)\//u;
    const ofQueues = [...documentedPaths("post")].filter((path) => !others.test(path));
    expect([...QUEUE_PATHS].sort()).toEqual(ofQueues.sort());
  });

  it.each(QUEUE_PATHS)("%s answers 200 and exactly the declared body, in upper case", async (path) => {
    await queue.reaches(1, "TESTING");
    const answer = await service.asks(path, bodyOf(path));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(contractProblems(path, answer)).toEqual([]);
    if (path === "/cancelPullRequest") await queue.submit(1);
  });

  it.each(QUEUE_PATHS)("%s answers a token of --enum-case lower in lower case, and only that", async (path) => {
    const lower = service.as(await lowerToken(), "lower");
    await queue.reaches(1, "TESTING");
    const answer = await lower(path, bodyOf(path));
    expect(answer.status).toBe(200);
    expect(contractProblems(path, answer, "lower")).toEqual([]);
    expect(JSON.stringify(answer.body)).not.toMatch(/"(?:PENDING|TESTING|RUNNING|SINGLE|SQUASH|OFF|IN_PROGRESS)"/u);
    if (path === "/cancelPullRequest") await queue.submit(1);
  });

  it.each(["/status", "/openapi.json"])("%s needs no token", async (path) => {
    const answer = await fetch(`${service.server().url}${path}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/./u);
  });

  it("ignores fields it does not know, and never echoes them", async () => {
    const answer = await queue.asks("/updateQueue", { frobnicate: 1, repo: { ...queue.at.repo, id: 7 } });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain("frobnicate");
  });

  it("takes pr.number as a string of digits", async () => {
    const { status, body } = await queue.asks("/getSubmittedPullRequest", { pr: { number: "1" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ prNumber: 1 });
  });

  it("finds the queue whatever the case of host, owner and name, and keeps them as they were written", async () => {
    const { body } = await queue.asks("/getQueue", { repo: { host: "GIT.local", owner: "aCME", name: "aPP" } });
    expect(body).toMatchObject({ repo: { host: "git.local", owner: "acme", name: "app" }, branch: "main" });
  });

  it("keeps the case of branches: another case is another branch", async () => {
    expect((await queue.asks("/getQueue", { targetBranch: "Main" })).status).toBe(404);
  });

  it("takes enums in any case and a content type with a charset", async () => {
    const headers = { "content-type": "Application/JSON; charset=UTF-8", "x-api-token": service.server().adminToken };
    const answer = await queue.asks("/updateQueue", { mergeMethod: "Merge_Commit" }, { headers });
    expect(answer.body).toMatchObject({ mergeMethod: "MERGE_COMMIT" });
    await queue.update({ mergeMethod: "squash" });
  });
});

let lower: Promise<string> | undefined;
const lowerToken = (): Promise<string> =>
  (lower ??= service.token("create", "--org", "local", "--scopes", "read,submit,admin", "--enum-case", "lower"));

describe("a request that cannot be read", () => {
  const raw = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    service.asks("/getQueue", undefined, {
      body,
      headers: { "content-type": "application/json", "x-api-token": service.server().adminToken, ...headers },
    });

  it.each<{ readonly body: string | Uint8Array<ArrayBuffer>; readonly what: string }>([
    { body: "{", what: "a cut object" },
    { body: '{"a":1,}', what: "a comma too many" },
    { body: "", what: "an empty body" },
    { body: "null", what: "null" },
    { body: "[]", what: "a list" },
    { body: '"x"', what: "a string" },
    { body: "{'a':1}", what: "other quotes" },
    { body: new Uint8Array([0x7b, 0xff, 0x7d]), what: "bytes that are no UTF-8" },
    { body: '{"__proto__":{"repo":1}}', what: "a field named __proto__" },
    { body: '{"repo":{"constructor":{"prototype":1}}}', what: "a constructor's prototype" },
    { body: "[".repeat(100_000), what: "a hundred thousand brackets" },
    { body: `{"a":${"[".repeat(70)}${"]".repeat(70)}}`, what: "70 levels" },
  ])("$what is 400 INVALID_REQUEST", async ({ body }) => {
    const answer = await raw(body);
    expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"]);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "multipart/form-data"])(
    "content type %j is 415",
    async (type) => {
      const answer = await raw(JSON.stringify(queue.at), { "content-type": type });
      expect([answer.status, errorOf(answer).code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      expect(errorOf(answer).message).toContain("application/json");
    },
  );

  it("an encoding that is not gzip is 415", async () => {
    expect((await raw("{}", { "content-encoding": "br" })).status).toBe(415);
  });

  it("tells all problems at once, each with its path", async () => {
    const answer = await service.asks("/createQueue", {
      repo: { host: "git.local/x", owner: "a/b" },
      targetBranch: "refs/heads/main",
      mode: "both",
      concurrency: "5",
      batch: "yes",
      batchingMinSize: 0,
      batchingMaxWaitTimeMinutes: 1441,
      testingTimeoutMinutes: 1.5,
      retriesBeforeFailure: 4,
      requiredStatuses: [1, ""],
      batchingRules: [{ targetPattern: 5, policy: "none" }],
      mergeMethod: 7,
    });
    expect(answer.status).toBe(400);
    expect(
      errorOf(answer)
        .issues?.map((issue) => issue.path)
        .sort(),
    ).toEqual(
      [
        ["repo.host", "repo.owner", "repo.name", "targetBranch", "mode", "concurrency", "batch", "batchingMinSize"],
        ["batchingMaxWaitTimeMinutes", "testingTimeoutMinutes", "retriesBeforeFailure", "requiredStatuses.0"],
        ["requiredStatuses.1", "batchingRules.0.targetPattern", "batchingRules.0.policy", "mergeMethod"],
      ]
        .flat()
        .sort(),
    );
    expect(errorOf(answer).issues?.every((issue) => issue.message !== "")).toBe(true);
  });

  it.each([
    [{}, "pr"],
    [{ pr: null }, "pr"],
    [{ pr: { number: 0 } }, "pr.number"],
    [{ pr: { number: -1 } }, "pr.number"],
    [{ pr: { number: 1.5 } }, "pr.number"],
    [{ pr: { number: 4_294_967_296 } }, "pr.number"],
    [{ pr: { number: "1e3" } }, "pr.number"],
    [{ pr: { number: "" } }, "pr.number"],
    [{ pr: { number: " 1" } }, "pr.number"],
    [{ pr: { number: true } }, "pr.number"],
    [{ pr: { number: 1 }, priority: 256 }, "priority"],
    [{ pr: { number: 1 }, priority: "soon" }, "priority"],
    [{ pr: { number: 1 }, noBatch: "true" }, "noBatch"],
  ])("%j is 400 at %s", async (fields, path) => {
    const answer = await queue.asks("/submitPullRequest", fields);
    expect(answer.status).toBe(400);
    expect(errorOf(answer).issues?.map((issue) => issue.path)).toEqual([path]);
  });

  it.each([
    { owner: "..", name: "app" },
    { owner: "acme", name: ".." },
    { owner: "acme", name: "a..b" },
    { owner: "acme/x", name: "app" },
    { owner: "acme", name: "../app" },
    { owner: "acme\n", name: "app" },
    { owner: "acme", name: "app\n" },
    { owner: "acme", name: "app.git" },
    { owner: "acme", name: "app.LOCK" },
    { owner: "-acme", name: "app" },
    { owner: "acme", name: ".app" },
    { owner: "", name: "app" },
    { owner: "acme", name: "a".repeat(101) },
    { owner: "acmé", name: "app" },
    { owner: "acme\u0000", name: "app" },
    { owner: "acme%2f..", name: "app" },
  ])("no repository is named %j", async (names) => {
    for (const path of ["/createQueue", "/getQueue", "/submitPullRequest"]) {
      const answer = await service.asks(path, { ...bodyOf(path), repo: { host: "git.local", ...names } });
      expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"]);
    }
  });

  it.each(
    [
      ["--upload-pack=x", "-x", "refs/heads/main", "mainline/x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b"],
      ["a\\b", "/a", "a/", "a//b", "a.", ".a", "a/.b", "a.lock", "@", "a@{1}", "HEAD", "a\u007f", "a\nb", ""],
    ].flat(),
  )("no target branch is named %j", async (targetBranch) => {
    const answer = await service.asks("/createQueue", { ...queue.at, targetBranch });
    expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"]);
    expect(errorOf(answer).issues?.[0]?.path).toBe("targetBranch");
  });
});

describe("who may ask", () => {
  const guarded = routesBy((route) => route.auth === "token");

  it.each(guarded)("%s without a token, or with an empty one, is the gateway's own 401", async (_, route) => {
    for (const headers of [{}, { "x-api-token": "" }]) {
      const answer = await fetch(`${service.server().url}${route.path}`, { method: route.method, headers });
      expect([answer.status, await answer.json()]).toEqual([401, { message: "Unauthorized" }]);
    }
  });

  it("/setImpactedTargets without a token is 401 in our own shape", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await queue.asks("/setImpactedTargets", FIELDS["/setImpactedTargets"]?.() ?? {}, { headers });
    expect([answer.status, errorOf(answer).code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  it.each(routesBy((route) => route.auth !== "none"))(
    "%s refuses a mistyped, unknown, revoked and expired token with one and the same 401",
    async (_, route) => {
      const told = new Set<string>();
      for (const token of await badTokens()) {
        const answer = await send(route, service.as(token));
        expect(answer.status).toBe(401);
        const { code, message } = errorOf(answer);
        told.add(`${code} ${message}`);
      }
      expect(told.size).toBe(1);
      expect([...told][0]).toMatch(/^UNAUTHENTICATED/u);
    },
  );

  it.each(routesBy((route) => route.auth !== "none"))("%s is 403 without its scope, and no more", async (_, route) => {
    const lacking = service.as(await tokenWithout(route.scope ?? "read"));
    const answer = await send(route, lacking);
    expect([answer.status, errorOf(answer).code]).toEqual([403, "FORBIDDEN"]);
    expect(errorOf(answer).message).toContain(route.scope);
  });

  it("says nothing of what is there to whoever may not ask: 401 and 403 come before 400 and 404", async () => {
    const [bad = ""] = await badTokens();
    expect((await service.as(bad)("/getQueue", { repo: 5 })).status).toBe(401);
    expect((await service.as(await tokenWithout("read"))("/getQueue", { repo: 5 })).status).toBe(403);
  });
});

let bad: Promise<readonly string[]> | undefined;
const badTokens = (): Promise<readonly string[]> => (bad ??= makeBadTokens());

async function makeBadTokens(): Promise<readonly string[]> {
  const yesterday = later(systemClock(), -DAY_MS);
  const [revoked, expired] = await Promise.all([
    service.token("create", "--org", "local", "--name", "revoked"),
    service.tokenAt(yesterday, "create", "--org", "local", "--expires", toRfc3339(later(yesterday, 1))),
  ]);
  await service.token("revoke", "--org", "local", "--name", "revoked");
  const good = service.server().adminToken;
  const typo = good.slice(0, -1) + (good.endsWith("a") ? "b" : "a");
  return [typo, "x", `${good} `.trimEnd().toUpperCase(), `mlq_${"0".repeat(36)}`, "a".repeat(5000), revoked, expired];
}

const lacking = new Map<string, Promise<string>>();
function tokenWithout(scope: string): Promise<string> {
  const others = ["read", "submit", "admin"].filter((one) => one !== scope).join(",");
  const found = lacking.get(scope) ?? service.token("create", "--org", "local", "--scopes", others);
  lacking.set(scope, found);
  return found;
}

describe("another organization's queue", () => {
  it.each(
    QUEUE_PATHS.filter((path) => !["/createQueue", "/listQueues", "/deleteQueue", "/cancelMaintenance"].includes(path)),
  )("%s answers exactly as for one that does not exist", async (path) => {
    const other = service.as(await otherToken());
    const theirs = await other(path, bodyOf(path));
    const nobodys = await other(path, { ...bodyOf(path), targetBranch: "nobodys" });
    expect([theirs.status, errorOf(theirs).code]).toEqual([404, "QUEUE_NOT_FOUND"]);
    const { message } = errorOf(nobodys);
    expect(errorOf(theirs).message).toBe(message.replaceAll("nobodys", "main"));
  });

  it("is in nobody's list but its own, and cannot be deleted", async () => {
    const other = service.as(await otherToken());
    expect((await other("/listQueues")).body).toEqual({ queues: [] });
    expect((await other("/deleteQueue", queue.at)).status).toBe(404);
    expect((await queue.view()).branch).toBe("main");
  });

  it("may be made beside ours on the same repository: no code host is connected, and the explanation says so", async () => {
    const other = service.as(await otherToken());
    expect((await other("/createQueue", queue.at)).status).toBe(200);
    const submitted = await other("/submitPullRequest", { ...queue.at, pr: { number: 1 } });
    expect([submitted.status, submitted.body]).toMatchObject([
      200,
      { state: "NOT_READY", prTitle: null, prSha: null, readiness: { gitHubMergeability: "UNSPECIFIED" } },
    ]);
    const told = await other("/explainPullRequest", { ...queue.at, pr: { number: 1 } });
    expect(JSON.stringify(told.body)).toMatch(/no code host is connected for git\.local/u);
    const targets = await other("/setImpactedTargets", { ...queue.at, pr: { number: 1 }, impactedTargets: [] });
    expect([targets.status, errorOf(targets).issues?.[0]?.path]).toEqual([400, "pr.sha"]);
    expect((await queue.get(1)).prTitle).toBe("A change");
  });
});

let other: Promise<string> | undefined;
const otherToken = (): Promise<string> =>
  (other ??= service.token("create", "--org", "other", "--scopes", "read,submit,admin"));

describe("paths and methods", () => {
  const at = (path: string, init: RequestInit = {}) =>
    fetch(`${service.server().url}${path}`, { redirect: "manual", ...init });

  it.each(["/nothing", "/getqueue", "/getQueue/", "/", "/getQueue/x", "/%67etQueue%00"])(
    "%s is 404 UNKNOWN_PATH in our shape",
    async (path) => {
      const answer = await at(path, { method: "POST" });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({
        error: { code: "UNKNOWN_PATH", requestId: answer.headers.get("x-request-id") },
      });
    },
  );

  it.each(allRoutes.map((route) => [route.path, route.method === "GET" ? "POST" : "GET", route.method] as const))(
    "%s by %s is 405, and Allow says %s",
    async (path, method, allowed) => {
      const answer = await at(path, { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, allowed]);
      expect(await answer.json()).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
    },
  );

  it.each(["PUT", "DELETE", "PATCH", "OPTIONS"])("%s is 405 as well", async (method) => {
    expect((await at("/getQueue", { method })).status).toBe(405);
  });

  it("a repeated slash is 308 to the single one, with the query, and a client that follows it succeeds", async () => {
    const twice = service.server().url.replace("/v1", "//v1///getQueue?a=b");
    const answer = await fetch(twice, { method: "POST", redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([308, "/v1/getQueue?a=b"]);
    const followed = await service
      .as(service.server().adminToken)("//getQueue", queue.at)
      .catch(() => undefined);
    expect(followed?.status).toBe(200);
  });
});

it("gives every answer a request id of its own, and takes none from the client", async () => {
  const headers = { "x-request-id": "mine", "x-api-token": service.server().adminToken };
  const ids = await Promise.all(
    [1, 2, 3].map(async () => (await fetch(`${service.server().url}/listQueues`, { method: "POST", headers })).headers),
  );
  const seen = new Set(ids.map((one) => one.get("x-request-id")));
  expect(seen.size).toBe(3);
  expect([...seen]).not.toContain("mine");
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches().filter((one) => !one.startsWith("//"))).toEqual([]);
});
