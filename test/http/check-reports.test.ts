import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

const CASE = (inner: string): string =>
  `<testsuites><testsuite name='s'><testcase classname='c' name='shaky' file='a.test.ts'>${inner}</testcase></testsuite></testsuites>`;

/** Fails where it runs first, and passes when it is repeated on the same commit. */
const SHAKY = [
  `if [ "$MAINLINE_ATTEMPT" = 1 ]`,
  `then echo "${CASE("<failure message='late'/>")}" > junit.xml; exit 1`,
  `else echo "${CASE("")}" > junit.xml`,
  "fi",
].join("; ");

it("what a check of the queue reports counts for its tests: two pull requests with one flake each make it flaky", async () => {
  const files = { ".mainline.yaml": JSON.stringify({ checks: { unit: SHAKY }, reports: { unit: "junit.xml" } }) };
  const { repo, queue } = await service.queue({ files });
  const list = async (path: string, more: object = {}) => {
    const { body } = await service.asks(path, { repo: queue.at.repo, org_url_slug: "local", ...more });
    return body as { tests: { name: string; status: { value: string; reason: string } }[] };
  };
  for (const number of [1, 2]) {
    repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" }, message: `Change ${number}` });
    await queue.submit(number);
    expect((await queue.ends(number)).state).toBe("MERGED");
  }
  const [start_time, end_time] = [Date.now() - 3_600_000, Date.now() + 3_600_000].map((at) =>
    new Date(at).toISOString(),
  );
  await eventually(
    () => list("/flaky-tests/list-unhealthy-tests"),
    ({ tests }) => tests.length === 1,
    { what: "a test that is flaky" },
  );
  const { tests } = await list("/flaky-tests/list-failing-tests", { start_time, end_time });
  expect(tests).toMatchObject([
    {
      name: "shaky",
      status: { value: "FLAKY", reason: expect.stringContaining("2 commits") },
      pull_requests_impacted_last_7d: 2,
      failure_rate_last_7d: 0.5,
      most_common_failures: [{ summary: "late", occurrence_count: 2 }],
    },
  ]);
});
