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
  const files = {
    ".mainline.yaml": JSON.stringify({ checks: { unit: SHAKY }, reports: { unit: "junit.xml" } }),
    ".github/CODEOWNERS": "* @acme/all\n*.test.ts @acme/quality\n",
  };
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
      codeowners: ["@acme/quality"],
      failure_rate_last_7d: 0.5,
      most_common_failures: [{ summary: "late", occurrence_count: 2 }],
    },
  ]);
});

it("a failure that only quarantined tests caused is forgiven where the queue says so, and the status says by which", async () => {
  const broken = `echo "${CASE("<failure message='always'/>")}" > junit.xml; exit 1`;
  const files = { ".mainline.yaml": JSON.stringify({ checks: { unit: broken }, reports: { unit: "junit.xml" } }) };
  const { repo, queue } = await service.queue({ files, settings: { retriesBeforeFailure: 0 } });
  const health = (path: string, more: object) =>
    service.asks(`/flaky-tests/${path}`, { repo: queue.at.repo, org_url_slug: "local", ...more });
  const opens = async (number: number): Promise<void> => {
    repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n" }, message: `Change ${number}` });
    await queue.submit(number);
  };
  await opens(1);
  expect((await queue.ends(1)).state).toBe("FAILED");
  const [start_time, end_time] = [Date.now() - 3_600_000, Date.now() + 3_600_000].map((at) =>
    new Date(at).toISOString(),
  );
  const { body } = await health("list-failing-tests", { start_time, end_time });
  const { tests } = body as { tests: { id: string }[] };
  const [test_case_id] = tests.map(({ id }) => id);

  // Forgiven is nothing before somebody has quarantined it.
  await queue.update({ forgiveQuarantined: true });
  await opens(2);
  expect((await queue.ends(2)).state).toBe("FAILED");
  expect((await health("set-quarantine", { test_case_id, setting: "ALWAYS_QUARANTINE" })).status).toBe(200);
  await opens(3);
  expect((await queue.ends(3)).state).toBe("MERGED");
  expect((await queue.timeline(3)).map(({ message }) => message)).toContain(
    "forgiven: only quarantined tests failed (shaky)",
  );
});
