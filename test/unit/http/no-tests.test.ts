import { describe, expect, it } from "vitest";
import { routes } from "../../../shared/api/routes.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import { noTests } from "../../../shared/http/no-tests.ts";
import { call, errorOf, ports, REF } from "./support.ts";

const failing = endpoint(routes["list-failing-tests"], ports(), async ({ input, principal }) =>
  noTests(input, principal),
);
const unhealthy = endpoint(routes["list-unhealthy-tests"], ports(), async ({ input, principal }) =>
  noTests(input, principal),
);
const window = { start_time: "2026-01-01T00:00:00Z", end_time: "2026-01-08T00:00:00Z" };
const ask = async (handler: typeof failing, more: object) =>
  call(handler, { body: JSON.stringify({ repo: REF.repo, org_url_slug: "acme", ...more }) });

describe.each([
  ["failing", failing],
  ["unhealthy", unhealthy],
])("while no results have come in, the list of %s tests", (_, handler) => {
  it("is one empty page with every field", async () => {
    const page = { total_rows: 0, next_page_token: "", prev_page_token: "", last_page_token: "", page_index: 0 };
    const answer = await ask(handler, { ...window, page_query: { page_token: "" } });
    expect(JSON.parse(answer.body)).toEqual({ tests: [], page });
  });

  it("of another organization is a 404", async () => {
    const error = errorOf(await ask(handler, { ...window, org_url_slug: "other" }));
    expect(error).toMatchObject({ status: 404, code: "ORGANIZATION_NOT_FOUND" });
  });

  it("takes no page token, since none was given out", async () => {
    const error = errorOf(await ask(handler, { ...window, page_query: { page_token: "eyJ" } }));
    expect(error).toMatchObject({ status: 400, issues: [{ path: "page_query.page_token" }] });
  });

  it.each([0, 101, 1.5, "30"])("refuses a page size of %j", async (page_size) => {
    const error = errorOf(await ask(handler, { ...window, page_query: { page_size } }));
    expect(error.issues).toMatchObject([{ path: "page_query.page_size" }]);
  });
});

it.each([
  [{}, ["end_time", "start_time"]],
  [{ ...window, end_time: window.start_time }, ["end_time"]],
  [{ ...window, end_time: "2026-01-08T00:00:00.001Z" }, ["end_time"]],
  [{ ...window, start_time: "2026-02-30T00:00:00Z" }, ["start_time"]],
  [{ ...window, end_time: "2027-01-01T00:00:00Z", org_url_slug: "" }, ["end_time", "org_url_slug"]],
])("a window that is none, or longer than seven days, is a 400: %j", async (more, paths) => {
  const issues = errorOf(await ask(failing, more)).issues ?? [];
  expect(issues.map((issue) => issue.path).toSorted()).toEqual(paths);
});

it.each([
  ["flaky", 200],
  ["BROKEN", 200],
  ["HEALTHY", 400],
])("the status of unhealthy tests may be %s: %i", async (status, expected) => {
  expect((await ask(unhealthy, { status })).statusCode).toBe(expected);
});
