/** Lists to the millisecond, page by page while more comes in, and who may see them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allRoutes } from "../../shared/api/routes.ts";
import { errorOf } from "../support/contract.ts";
import { type HealthClient, healthClient, junit, type Outcomes, sha } from "../support/health.ts";
import type { Called } from "../support/server.ts";
import { aService, type Asks, type Fields, type Service } from "../support/service.ts";

let service: Service;
let made = 0;
const aProject = (): HealthClient => healthClient(service.asks, service.server().adminToken, `project-${(made += 1)}`);
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

const told = (answer: Called) => [answer.status, errorOf(answer).code];
const HOUR_MS = 3_600_000;
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
const names = (of: { readonly tests: readonly { readonly name: string }[] }) => of.tests.map((one) => one.name);

describe("a window", () => {
  it("begins with its start and ends before its end, to the millisecond", async () => {
    const project = aProject();
    const at = Date.now() - 2 * HOUR_MS;
    const time = (ms: number): string => new Date(at + ms).toISOString();
    await project.uploads({ pays: "F" }, { started_at: time(0) });
    const within = async (from: number, until: number) =>
      names(await project.failing({ start_time: time(from), end_time: time(until) }));
    expect(await within(0, 1)).toEqual(["pays"]);
    expect(await within(-1, 0)).toEqual([]);
    expect(await within(-1, 1)).toEqual(["pays"]);
    expect(await within(1, 2)).toEqual([]);
    expect(await within(-7 * 24 * HOUR_MS + 1, 1)).toEqual(["pays"]);
    const [found] = (await project.failing({ start_time: time(0), end_time: time(1) })).tests;
    expect(found?.most_common_failures[0]?.last_occurrence).toBe(time(0));
  });

  it.each([
    ["that ends where it begins", 0, 0, "end_time"],
    ["that ends before it begins", 0, -1, "end_time"],
    ["of seven days and a millisecond", 0, 7 * 24 * HOUR_MS + 1, "end_time"],
  ])("%s is 400", async (_, from, until, path) => {
    const time = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    const answer = await aProject().asks("list-failing-tests", { start_time: time(from), end_time: time(until) });
    expect([...told(answer), errorOf(answer).issues?.[0]?.path]).toEqual([400, "INVALID_REQUEST", path]);
  });

  it("has the order of the latest failures in it, whatever was uploaded when", async () => {
    const project = aProject();
    await project.uploads({ newest: "F" }, { started_at: ago(10_000) });
    await project.uploads({ oldest: "F", middle: "F" }, { started_at: ago(30_000), attempt: 2 });
    await project.uploads({ middle: "F", newest: "." }, { started_at: ago(20_000), attempt: 3 });
    expect(names(await project.failing())).toEqual(["newest", "middle", "oldest"]);
    const { failure_rate_last_24h: rate } = await project.test("newest");
    expect(rate).toBe(0.5);
  });

  it("takes a run's time with an offset, also where its plus came as a space", async () => {
    const project = aProject();
    const at = new Date(Date.now() - HOUR_MS / 2).setMilliseconds(0);
    const local = new Date(at + 2 * HOUR_MS).toISOString().slice(0, 19);
    for (const [attempt, offset] of ["+02:00", " 02:00"].entries())
      await project.uploads({ pays: "F" }, { started_at: `${local}${offset}`, attempt: attempt + 1 });
    const { most_common_failures: found } = await project.test("pays");
    expect(found).toEqual([{ summary: "it broke", occurrence_count: 2, last_occurrence: new Date(at).toISOString() }]);
  });

  it("a time in the future or long ago is not believed: the run counts as of now", async () => {
    const project = aProject();
    const before = Date.now();
    await project.uploads({ early: "F" }, { started_at: new Date(before + 2 * HOUR_MS).toISOString() });
    await project.uploads({ late: "F" }, { started_at: ago(60 * 24 * HOUR_MS) });
    const { tests } = await project.failing();
    for (const {
      most_common_failures: [failure],
    } of tests)
      expect(Date.parse(failure?.last_occurrence ?? "")).toBeGreaterThanOrEqual(before);
    expect(tests).toHaveLength(2);
  });
});

describe("pages", () => {
  const SIZE = 4;
  const many = (count: number, from = 0): Outcomes =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`test-${String(from + at).padStart(3, "0")}`, "F"]));
  const window: Fields = { start_time: ago(HOUR_MS), end_time: new Date(Date.now() + HOUR_MS).toISOString() };
  const page = (project: HealthClient, token: string, size = SIZE) =>
    project.failing({ ...window, page_query: { page_size: size, page_token: token } });

  it("walked to the end hold each test once, in one order, although others come in and fail again", async () => {
    const project = aProject();
    for (let file = 0; file < 3; file += 1)
      await project.uploads(many(6, 6 * file), { sha: sha(String(file)), started_at: ago(60_000 - file * 1000) });
    const whole = await page(project, "", 100);
    const walked: string[] = [];
    let token = "";
    for (let index = 0; ; index += 1) {
      const { tests, page: view } = await page(project, token);
      expect(view).toMatchObject({ page_index: index, total_rows: 18 });
      walked.push(...tests.map((one) => one.id));
      if (view.next_page_token === "") break;
      token = view.next_page_token;
      await project.uploads({ ...many(2, 3), [`new-${index}`]: "F" }, { sha: sha("c"), attempt: index + 1 });
      await project.uploads(many(1, 9), { sha: sha("d"), attempt: index + 1, started_at: ago(55_000) });
    }
    expect(walked).toEqual(whole.tests.map((one) => one.id));
    expect((await page(project, "", 100)).page.total_rows).toBe(18 + 4);
  });

  it("lead on, back and to the last, and show what they showed, rates and counts included", async () => {
    const project = aProject();
    await project.uploads(many(10));
    const first = await page(project, "");
    const second = await page(project, first.page.next_page_token);
    const last = await page(project, first.page.last_page_token);
    await project.uploads(many(10), { attempt: 2 });
    expect([first.page.prev_page_token, first.page.page_index]).toEqual(["", 0]);
    expect([last.page.next_page_token, last.page.last_page_token, last.page.page_index]).toEqual(["", "", 2]);
    expect([first, second, last].map((one) => one.tests.length)).toEqual([4, 4, 2]);
    expect(await page(project, second.page.prev_page_token)).toEqual(first);
    expect(await page(project, last.page.prev_page_token)).toEqual(second);
    expect(await page(project, second.page.last_page_token)).toEqual(last);
  });

  it("a damaged token, or one of another query, repository or list is 400; an empty one is the first page", async () => {
    const project = aProject();
    await project.uploads(many(6));
    const { page: view } = await page(project, "");
    const token = view.next_page_token;
    const query = (page_token: string, page_size = SIZE) => ({ page_query: { page_size, page_token } });
    const asked: readonly (readonly [HealthClient, string, Fields])[] = [
      [project, "list-failing-tests", { ...window, ...query(`${token}x`) }],
      [project, "list-failing-tests", { ...window, ...query(`${token}.x`) }],
      [project, "list-failing-tests", { ...window, ...query(token.slice(1)) }],
      [project, "list-failing-tests", { ...window, ...query(token.replace("1", "2")) }],
      [project, "list-failing-tests", { ...window, ...query("..") }],
      [project, "list-failing-tests", { ...window, end_time: ago(0), ...query(token) }],
      [project, "list-failing-tests", { ...window, ...query(token, SIZE + 1) }],
      [aProject(), "list-failing-tests", { ...window, ...query(token) }],
      [project, "list-unhealthy-tests", query(token)],
      [project, "list-quarantined-tests", query(token)],
    ];
    for (const [client, path, fields] of asked) {
      const answer = await client.asks(path, fields);
      expect([...told(answer), errorOf(answer).issues?.[0]?.path]).toEqual([
        400,
        "INVALID_REQUEST",
        "page_query.page_token",
      ]);
    }
    expect((await page(project, "")).tests).toHaveLength(4);
    expect((await project.asks("list-unhealthy-tests", query("", 0))).status).toBe(400);
    expect((await project.asks("list-unhealthy-tests", query("", 101))).status).toBe(400);
  });

  it("of unhealthy tests are as stable", async () => {
    const project = aProject();
    await project.settings({ rules: { sameCommit: { commitsMin: 1 } } });
    const retried = (from: number): Outcomes => Object.fromEntries([0, 1, 2].map((at) => [`t-${from + at}`, "R"]));
    await project.uploads(retried(0));
    await project.uploads(retried(3));
    const query = (page_token: string) => ({ page_query: { page_size: 2, page_token } });
    const first = await project.unhealthy(query(""));
    await project.uploads(retried(6));
    const second = await project.unhealthy(query(first.page.next_page_token));
    const third = await project.unhealthy(query(second.page.next_page_token));
    const walked = [first, second, third].flatMap((one) => names(one));
    expect(walked.toSorted()).toEqual(["t-0", "t-1", "t-2", "t-3", "t-4", "t-5"]);
    expect(walked.slice(0, 3).toSorted()).toEqual(["t-3", "t-4", "t-5"]);
  });
});

const BODIES: Readonly<Record<string, Fields>> = {
  "list-failing-tests": { start_time: ago(HOUR_MS), end_time: ago(0) },
  "get-test-details": { test_id: "x" },
  "get-upload": { upload_id: "x" },
  "set-quarantine": { test_case_id: "x", setting: "UNSPECIFIED" },
  "link-ticket-to-test-case": { test_case_id: "x", external_ticket_id: "1" },
};
/** Path, scope and id. */
const ROUTES: readonly (readonly [string, string, string])[] = [
  ["list-failing-tests", "read", "list-failing-tests"],
  ["list-unhealthy-tests", "read", "list-unhealthy-tests"],
  ["list-quarantined-tests", "read", "list-quarantined-tests"],
  ["get-test-details", "read", "get-test-details"],
  ["get-upload", "read", "get-upload"],
  ["get-settings", "read", "get-test-health-settings"],
  ["link-ticket-to-test-case", "submit", "link-ticket-to-test-case"],
  ["upload-test-results", "submit", "upload-test-results"],
  ["set-quarantine", "admin", "set-quarantine"],
  ["update-settings", "admin", "update-test-health-settings"],
];

describe("who may ask", () => {
  it("every endpoint of these is known here with its scope", () => {
    const known = new Set(ROUTES.map(([, , id]) => id));
    const ofTests = allRoutes.filter((route) => route.path.startsWith("/flaky-tests/"));
    expect(ofTests.filter((route) => !known.has(route.id)).map((route) => route.id)).toEqual([]);
  });

  const tokens = new Map<string, Promise<string>>();
  const tokenOf = (...args: readonly string[]): Promise<string> => {
    const found = tokens.get(args.join(" ")) ?? service.token("create", ...args);
    tokens.set(args.join(" "), found);
    return found;
  };
  const ask = (asks: Asks, token: string, path: string, org = "local"): Promise<Called> => {
    const client = healthClient(asks, token, "guarded", org);
    return path === "upload-test-results" ? client.sends(junit({ pays: "F" })) : client.asks(path, BODIES[path]);
  };

  it.each(ROUTES)("%s takes a token of scope %s, and no other", async (path, scope) => {
    const right = await tokenOf("--org", "local", "--scopes", scope);
    const others = ["read", "submit", "admin"].filter((one) => one !== scope).join(",");
    const wrong = await tokenOf("--org", "local", "--scopes", others);
    expect([200, 404]).toContain((await ask(service.as(right), right, path)).status);
    expect(told(await ask(service.as(wrong), wrong, path))).toEqual([403, "FORBIDDEN"]);
    expect(told(await ask(service.as("mlq_x"), "mlq_x", path))).toEqual([401, "UNAUTHENTICATED"]);
    const bare = await fetch(`${service.server().url}/flaky-tests/${path}`, { method: "POST", body: "x" });
    expect([bare.status, await bare.json()]).toEqual([401, { message: "Unauthorized" }]);
  });

  it.each(ROUTES.filter(([path]) => path !== "upload-test-results" && path !== "get-upload"))(
    "%s for another organization's slug is 404",
    async (path) => {
      const answer = await ask(service.asks, "", path, "other");
      expect(told(answer)).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    },
  );

  it("a token of lower-case enums gets these as they are, in upper case, and may send any", async () => {
    const token = await tokenOf("--org", "local", "--scopes", "read,submit,admin", "--enum-case", "lower");
    const project = healthClient(service.as(token, "lower"), token, "lower");
    for (const letter of ["a", "b"]) await project.uploads({ pays: "R" }, { sha: sha(letter) });
    const [found] = (await project.unhealthy({ status: "flaky" })).tests;
    expect(found?.status.value).toBe("FLAKY");
    const fields = { test_case_id: found?.id, setting: "never_quarantine" };
    expect((await project.asks("set-quarantine", fields)).body).toMatchObject({ setting: "NEVER_QUARANTINE" });
  });

  it("two organizations that upload the same test see nothing of each other", async () => {
    const token = await tokenOf("--org", "other", "--scopes", "read,submit,admin");
    const ours = healthClient(service.asks, service.server().adminToken, "same");
    const theirs = healthClient(service.as(token), token, "same", "other");
    for (const letter of ["a", "b"]) await ours.uploads({ pays: "R", ours: "F" }, { sha: sha(letter) });
    expect(names(await theirs.failing())).toEqual([]);
    const file = await theirs.sends(junit({ pays: "R", ours: "F" }));
    expect(names(await theirs.unhealthy())).toEqual([]);
    const [mine, other] = [await ours.test("pays"), await theirs.test("pays")];
    expect(other.id).not.toBe(mine.id);
    expect(other).toMatchObject({ status: { value: "HEALTHY" }, failure_rate_last_7d: 0.5 });
    for (const [path, fields] of [
      ["get-test-details", { test_id: mine.id }],
      ["set-quarantine", { test_case_id: mine.id, setting: "ALWAYS_QUARANTINE" }],
      ["link-ticket-to-test-case", { test_case_id: mine.id, external_ticket_id: "1" }],
    ] as const)
      expect(told(await theirs.asks(path, fields))).toEqual([404, "TEST_NOT_FOUND"]);
    const uploadId: unknown = Reflect.get(Object(file.body), "uploadId");
    expect(told(await ours.asks("get-upload", { upload_id: uploadId }))).toEqual([404, "UPLOAD_NOT_FOUND"]);
    await theirs.settings({ quarantinesFlaky: true });
    expect((await ours.settings()).quarantinesFlaky).toBe(false);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
