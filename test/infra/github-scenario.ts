/** Everything that a repository on GitHub can meet, so that every function makes every call that it makes for GitHub. */
import * as z from "zod";
import { installationStore } from "../../shared/table/installations.ts";
import { orgSlug, type QueueKey, repoKey } from "../../shared/kernel/ids.ts";
import { systemClock, toRfc3339, epochMs, HOUR_MS, MINUTE_MS } from "../../shared/kernel/time.ts";
import { junit, sha } from "../support/health.ts";
import type { Site } from "./site.ts";

const failing = z.object({ tests: z.array(z.object({ id: z.string() })) });
const NAME = "acme/app";
const REPO = { host: "github.com", owner: "acme", name: "app" };
const AT = { repo: REPO, targetBranch: "main" };
const KEY: QueueKey = { org: orgSlug("local"), repo: repoKey(REPO), branch: "main" };

export async function onGitHub(site: Site): Promise<void> {
  const { twin } = site;
  await twin.addRepository(NAME, { files: { "a.txt": "1\n", CODEOWNERS: "* @acme\n" } });
  twin.protect(NAME, "main", { requiredStatuses: ["unit"], by: "ruleset" });
  const id = await twin.installation("acme");
  await installationStore(site.table).link({ org: KEY.org, host: REPO.host, id, account: "acme" }, systemClock());
  twin.onPush(({ sha: commit, branch }) => {
    const result = branch.includes(`/pr-${bad}/`) ? "failure" : "success";
    void twin.setCheckRun(NAME, commit, "unit", result).catch(() => {});
  });
  await site.asks("/createQueue", { ...AT, mode: "parallel", batch: true, batchingMaxWaitTimeMinutes: 0 });
  await landing(site);
  await conflicting(site);
  await failed(site);
  await asked(site);
  await missed(site);
  await forked(site);
  await owners(site);
  await site.asks("/deleteQueue", AT);
  await twin.settled();
}

const change = (site: Site, head: string, files: Readonly<Record<string, string>>) =>
  site.twin.openPullRequest(NAME, { head, base: "main", files });

async function submitted(site: Site, number: number): Promise<void> {
  await site.asks("/submitPullRequest", { ...AT, pr: { number } });
  // Without a commit: GitHub is asked for the head.
  await site.asks("/setImpactedTargets", { ...AT, pr: { number }, impactedTargets: ["//a"] });
}

const ended = (site: Site, number: number, state: string, beforeSweep = async (_site: Site): Promise<void> => {}) =>
  site.until(
    async () => (await site.app.queues.submissions(KEY, [number])).get(number),
    (found) => found?.stored === undefined && found?.entry.state === state,
    { what: `#${number} of GitHub is ${state}`, beforeSweep: () => beforeSweep(site) },
  );

/** Tested together, landed one after the other. */
async function landing(site: Site): Promise<void> {
  const numbers = [await change(site, "one", { "b.txt": "b\n" }), await change(site, "two", { "c.txt": "c\n" })];
  for (const number of numbers) await submitted(site, number);
  for (const number of numbers) await ended(site, number, "MERGED");
}

/** Cancelled while it is tested: its branch is removed. */
async function conflicting(site: Site): Promise<void> {
  const number = await change(site, "three", { "d.txt": "d\n" });
  await submitted(site, number);
  await site.asks("/cancelPullRequest", { ...AT, pr: { number } });
  await ended(site, number, "CANCELLED");
}

let bad = 0;

/** Its page tells which check it was. */
async function failed(site: Site): Promise<void> {
  await site.asks("/updateQueue", { ...AT, retriesBeforeFailure: 0 });
  bad = await change(site, "bad", { "bad.txt": "b\n" });
  await submitted(site, bad);
  await ended(site, bad, "FAILED");
}

/** In comments and by label, as webhooks bring them. */
async function asked(site: Site): Promise<void> {
  const { twin } = site;
  twin.setRole(NAME, "ada", "write");
  await site.asks("/updateQueue", { ...AT, labelCommandsEnabled: true });
  const number = await change(site, "four", { "e.txt": "e\n" });
  for (const said of ["/cancel", "/merge", "/merge --priority=high", "/why"])
    await twin.comment(NAME, number, "ada", said);
  await submittedBy(site, number, "github:ada");
  for (const said of ["/restart", "/cancel"]) await twin.comment(NAME, number, "ada", said);
  await ended(site, number, "CANCELLED");
  const labelled = await change(site, "five", { "f.txt": "f\n" });
  await twin.label(NAME, labelled, "merge-queue", "ada");
  await submittedBy(site, labelled, "github:ada");
  await twin.unlabel(NAME, labelled, "merge-queue", "ada");
  await ended(site, labelled, "CANCELLED");
}

const submittedBy = (site: Site, number: number, by: string) =>
  site.until(
    async () => (await site.app.queues.submissions(KEY, [number])).get(number)?.entry.submittedBy,
    (found) => found === by,
    { what: `#${number} of GitHub is submitted by ${by}` },
  );

/** What no webhook told of: each look is a minute after the last. */
async function missed(site: Site): Promise<void> {
  const { twin } = site;
  const number = await change(site, "six", { "g.txt": "g\n" });
  twin.faults.lose(4);
  await twin.comment(NAME, number, "ada", "/merge");
  await aMinutePasses(site);
  await submittedBy(site, number, "github:ada");
  await twin.comment(NAME, number, "ada", "/restart");
  await twin.comment(NAME, number, "ada", "/cancel");
  await twin.label(NAME, number, "merge-queue", "ada");
  // Again and again: a look that comes to nothing is made up for by the next.
  await ended(site, number, "CANCELLED", aMinutePasses);
  twin.faults.clear();
}

async function aMinutePasses(site: Site): Promise<void> {
  const { heard } = site.app;
  const before = await heard.lookedThrough(KEY.org, KEY.repo);
  if (before === undefined) throw new Error("nobody has looked yet");
  await heard.look(KEY.org, KEY.repo, before, { ...before, lookedAt: epochMs(before.lookedAt - MINUTE_MS) });
}

/** A fork's workflow, which has no token. */
async function forked(site: Site): Promise<void> {
  const head = "from-fork";
  const wanted = { head, base: "main", author: "stranger", fork: true, files: { "f.txt": "f\n" } };
  const number = await site.twin.openPullRequest(NAME, wanted);
  const headSha = site.twin.pull(NAME, number).head.sha;
  const run = site.twin.addWorkflowRun(NAME, { headSha, headBranch: head, fork: "stranger" });
  const headers = { "x-api-token": "", "x-forked-workflow-run-id": String(run), "idempotency-key": "fork" };
  const asked = { ...AT, pr: { number, sha: headSha }, impactedTargets: ["//f"] };
  const { status } = await site.asks("/setImpactedTargets", asked, headers);
  if (status !== 200) throw new Error(`a fork's workflow was answered ${status}`);
}

/** Tests of a repository of GitHub, whose owners are asked for there. */
async function owners(site: Site): Promise<void> {
  const query = new URLSearchParams({ repo: NAME, repoHost: REPO.host, sha: sha("f"), branch: "main", job: "unit" });
  await site.sends(`/flaky-tests/upload-test-results?${query.toString()}`, junit({ fails: "F" }));
  const of = { repo: REPO, org_url_slug: "local" };
  const now = site.app.clock();
  const window = { start_time: toRfc3339(epochMs(now - HOUR_MS)), end_time: toRfc3339(epochMs(now + HOUR_MS)) };
  const listed = await site.asks("/flaky-tests/list-failing-tests", { ...of, ...window });
  const [first] = failing.parse(listed.body).tests;
  await site.asks("/flaky-tests/list-unhealthy-tests", of);
  await site.asks("/flaky-tests/list-quarantined-tests", of);
  await site.asks("/flaky-tests/get-test-details", { ...of, test_id: first?.id });
}
