/** From JUnit files of a stranger's own project to "this test is flaky, since then, for this reason, and it is theirs". */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../support/contract.ts";
import { eventually } from "../support/eventually.ts";
import { type HealthClient, healthClient, sha } from "../support/health.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
let made = 0;
const aProject = (): HealthClient => healthClient(service.asks, service.server().adminToken, `project-${(made += 1)}`);
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

describe("a test with both outcomes on each of two commits", () => {
  let project: HealthClient;
  beforeAll(async () => {
    project = aProject();
    await project.settings({ codeowners: "* @acme/all\n/src/ @acme/shop\n" });
    const suite = { adds: ".", empties: "." };
    await project.uploads({ ...suite, pays: "the card was declined" }, { sha: sha("a"), branch: "topic", pr: 7 });
    await project.uploads({ ...suite, pays: "." }, { sha: sha("a"), branch: "topic", pr: 7, attempt: 2 });
    await project.uploads({ ...suite, pays: "the card was declined" }, { sha: sha("b"), branch: "topic", pr: 8 });
    await project.uploads(
      { ...suite, pays: "no answer in 3000 ms" },
      { sha: sha("b"), branch: "topic", pr: 8, attempt: 2 },
    );
    await project.uploads({ ...suite, pays: "." }, { sha: sha("b"), branch: "topic", pr: 8, attempt: 3 });
    await eventually(
      () => project.unhealthy(),
      ({ tests }) => tests.length > 0,
    );
  });

  it("is flaky, with its owner, its rates, its pull requests and its commonest failure", async () => {
    const found = await project.test("pays");
    expect(found).toMatchObject({
      repository: { html_url: `https://git.local/acme/project-${made}` },
      html_url: `https://git.local/acme/project-${made}/blob/main/src/cart.test.ts`,
      variant: "",
      file_path: "src/cart.test.ts",
      parent: "cart",
      classname: "shop.Cart",
      status: { value: "FLAKY" },
      codeowners: ["@acme/shop"],
      pull_requests_impacted_last_7d: 2,
      quarantined: false,
      failure_rate_last_7d: 0.6,
      failure_rate_last_24h: 0.6,
    });
    expect(found.status.reason).toContain("passed and failed on 2 commits");
    expect(found.most_common_failures).toMatchObject([
      { summary: "the card was declined", occurrence_count: 2 },
      { occurrence_count: 1 },
    ]);
    expect(found).not.toHaveProperty("ticket");
  });

  it("is in the list of unhealthy tests, by whichever status is asked for", async () => {
    const { tests, page } = await project.unhealthy();
    expect(tests.map((one) => one.name)).toEqual(["pays"]);
    expect(page).toEqual({
      total_rows: 1,
      next_page_token: "",
      prev_page_token: "",
      last_page_token: "",
      page_index: 0,
    });
    expect((await project.unhealthy({ status: "flaky" })).tests).toEqual(tests);
    expect((await project.unhealthy({ status: "BROKEN" })).tests).toEqual([]);
    expect((await project.quarantined()).tests).toEqual([]);
  });

  it("has details: evidence of each commit with its uploads, transitions, history by day, the latest failure", async () => {
    const { id } = await project.test("pays");
    const details = await project.details(id);
    expect(details.evidence.map((one) => [one.rule, one.sha, one.upload_ids.length])).toEqual([
      ["same-commit", sha("b"), 3],
      ["same-commit", sha("a"), 2],
    ]);
    expect(details.evidence[0]?.what).toBe("failed 2 times and passed 1 time on bbbbbbb");
    expect(details.transitions).toMatchObject([{ status: "FLAKY", rules: ["same-commit"] }]);
    const sum = (of: (day: (typeof details.history)[number]) => number): number =>
      details.history.reduce((all, day) => all + of(day), 0);
    expect([sum((day) => day.passed), sum((day) => day.failed)]).toEqual([2, 3]);
    expect(details.latest_failure).toBe("no answer in 3000 ms");
    expect(details.quarantine_setting).toBe("UNSPECIFIED");
  });

  it("of tests that never failed nothing is listed, and they have no details", async () => {
    expect((await project.failing()).tests.map((one) => one.name)).toEqual(["pays"]);
    const answer = await project.asks("get-test-details", { test_id: "no-such-test" });
    expect([answer.status, errorOf(answer).code]).toEqual([404, "TEST_NOT_FOUND"]);
  });
});

describe("quarantine", () => {
  const flaky = async (project: HealthClient): Promise<string> => {
    for (const commit of ["a", "b"]) await project.uploads({ pays: "R", adds: "." }, { sha: sha(commit) });
    return (await project.test("pays")).id;
  };
  const sets = (project: HealthClient, id: string, setting: string) =>
    project.asks("set-quarantine", { test_case_id: id, setting });

  it("that somebody set turns the verdict, and is in its list, until it is unset", async () => {
    const project = aProject();
    expect(await project.uploads({ pays: "F", adds: "." })).toMatchObject({ verdict: "FAIL", quarantined: [] });
    const { id } = await project.test("pays");
    expect((await sets(project, id, "always_quarantine")).body).toEqual({
      test_case_id: id,
      setting: "ALWAYS_QUARANTINE",
    });
    expect(await project.uploads({ pays: "F", adds: "." }, { attempt: 2 })).toMatchObject({
      verdict: "PASS",
      quarantined: [id],
    });
    expect(await project.uploads({ pays: "F", adds: "F" }, { attempt: 3 })).toMatchObject({
      verdict: "FAIL",
      quarantined: [id],
    });
    expect((await project.quarantined()).tests.map((one) => [one.id, one.quarantined])).toEqual([[id, true]]);
    expect((await project.details(id)).quarantine_setting).toBe("ALWAYS_QUARANTINE");
    await sets(project, id, "UNSPECIFIED");
    expect(await project.uploads({ pays: "F" }, { attempt: 4 })).toMatchObject({ verdict: "FAIL", quarantined: [] });
    expect((await project.quarantined()).tests).toEqual([]);
  });

  it("comes by itself to a flaky test where the repository has that on, unless it is set never", async () => {
    const project = aProject();
    const id = await flaky(project);
    expect(await project.uploads({ pays: "F" }, { attempt: 2 })).toMatchObject({ verdict: "FAIL" });
    await project.settings({ quarantinesFlaky: true });
    expect(await project.uploads({ pays: "F" }, { attempt: 3 })).toMatchObject({ verdict: "PASS", quarantined: [id] });
    await sets(project, id, "NEVER_QUARANTINE");
    expect(await project.uploads({ pays: "F" }, { attempt: 4 })).toMatchObject({ verdict: "FAIL", quarantined: [] });
    await sets(project, id, "ALWAYS_QUARANTINE");
    await project.settings({ canQuarantine: false });
    expect(await project.uploads({ pays: "F" }, { attempt: 5 })).toMatchObject({ verdict: "FAIL", quarantined: [] });
  });

  it("a failure that a retry took back does not count against the verdict", async () => {
    expect(await aProject().uploads({ pays: "R", adds: "." })).toMatchObject({
      tests: 3,
      failures: 1,
      verdict: "PASS",
    });
  });
});

describe("a broken test", () => {
  it("is one that failed in five runs on main; one pass clears it", async () => {
    const project = aProject();
    await project.settings({ quarantinesFlaky: true });
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    for (let run = 0; run < 5; run += 1) {
      const answer = await project.uploads(
        { pays: "F", adds: "." },
        { sha: sha(String(run)), started_at: minutesAgo(30 - run) },
      );
      expect(answer.verdict).toBe("FAIL");
      expect((await project.unhealthy()).tests.length).toBe(run === 4 ? 1 : 0);
    }
    const [broken] = (await project.unhealthy({ status: "BROKEN" })).tests;
    expect(broken).toMatchObject({ name: "pays", status: { value: "BROKEN" }, quarantined: false });
    expect(broken?.status.reason).toContain("the last 5 runs on main failed");

    // A pass of before says nothing of now; neither does one elsewhere.
    await project.uploads({ pays: ".", adds: "." }, { sha: sha("8"), started_at: minutesAgo(40) });
    await project.uploads({ pays: ".", adds: "." }, { sha: sha("9"), branch: "topic" });
    await project.uploads({ pays: ".", adds: "." }, { sha: sha("f") });
    await eventually(
      () => project.unhealthy(),
      ({ tests }) => tests.length === 0,
    );
    const { transitions, test } = await project.details(broken?.id ?? "");
    expect(transitions.map((one) => one.status)).toEqual(["HEALTHY", "BROKEN"]);
    expect(transitions[0]?.upload_id).toBeNull();
    expect(test.status.value).toBe("HEALTHY");
  });
});

describe("a ticket and the settings", () => {
  it("a ticket is linked by its address, or by an id that the template makes an address of", async () => {
    const project = aProject();
    await project.uploads({ pays: "F" });
    const { id } = await project.test("pays");
    const links = (fields: object) => project.asks("link-ticket-to-test-case", { test_case_id: id, ...fields });
    expect((await links({ ticket_url: "https://t.example/1" })).body).toEqual({
      test_case_id: id,
      ticket: { html_url: "https://t.example/1" },
    });
    expect((await project.test("pays")).ticket).toEqual({ html_url: "https://t.example/1" });
    await project.settings({ ticketUrlTemplate: "https://t.example/browse/{ticket}" });
    await links({ external_ticket_id: "SHOP 7/8" });
    expect((await project.test("pays")).ticket).toEqual({ html_url: "https://t.example/browse/SHOP%207%2F8" });
    for (const fields of [
      {},
      { ticket_url: "javascript:x" },
      { ticket_url: "https://t.example", external_ticket_id: "1" },
    ])
      expect((await links(fields)).status).toBe(400);
    expect(
      (await project.asks("link-ticket-to-test-case", { test_case_id: "x", external_ticket_id: "1" })).status,
    ).toBe(404);
  });

  it("settings are per repository, and what is left out stays", async () => {
    const [project, other] = [aProject(), aProject()];
    const before = await project.settings();
    expect(before).toMatchObject({
      canQuarantine: true,
      quarantinesFlaky: false,
      defaultBranch: null,
      codeowners: null,
    });
    await project.settings({
      rules: { sameCommit: { commitsMin: 1 } },
      testUrlTemplate: "https://x.example/{id}?n={name}&{x}",
    });
    expect(await project.settings()).toEqual({
      ...before,
      testUrlTemplate: "https://x.example/{id}?n={name}&{x}",
      rules: { ...before.rules, sameCommit: { ...before.rules.sameCommit, commitsMin: 1 } },
    });
    expect(await other.settings()).toEqual(before);
    await project.uploads({ "pays and goes": "R" });
    const found = await project.test("pays and goes");
    expect(found).toMatchObject({
      html_url: `https://x.example/${found.id}?n=pays%20and%20goes&{x}`,
      status: { value: "FLAKY" },
    });
  });

  it("settings that no rule could go by are refused, all problems at once", async () => {
    const rules = {
      failureRate: { rateMin: 1.5, runsMin: 0 },
      sameCommit: { windowDays: 15 },
      failureRun: { branches: "x" },
    };
    const answer = await aProject().asks("update-settings", { rules, canQuarantine: "yes", defaultBranch: "" });
    expect(answer.status).toBe(400);
    expect(
      errorOf(answer)
        .issues?.map((one) => one.path)
        .sort(),
    ).toEqual(
      [
        ["canQuarantine", "defaultBranch", "rules.failureRate.rateMin", "rules.failureRate.runsMin"],
        ["rules.failureRun.branches", "rules.sameCommit.windowDays"],
      ].flat(),
    );
  });

  it("a CODEOWNERS file is taken up to its limit, in bytes as it is stored", async () => {
    const project = aProject();
    const large = `* @acme/all\n${"# x\n".repeat(70_000)}`;
    expect((await project.settings({ codeowners: large })).codeowners).toBe(large);
    const answer = await project.asks("update-settings", { codeowners: `# ${"日本".repeat(140_000)}` });
    expect([answer.status, errorOf(answer).issues?.[0]?.path]).toEqual([400, "codeowners"]);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
