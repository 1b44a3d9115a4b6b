/** Everything that test health can meet, so that every function of it makes every call that it ever makes. */
import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { zstdCompressSync } from "node:zlib";
import { packTar } from "modern-tar";
import * as z from "zod";
import { orgSlug, repoKey } from "../../shared/kernel/ids.ts";
import { DAY_MS, epochMs, HOUR_MS, later } from "../../shared/kernel/time.ts";
import { keys } from "../../shared/table/keys.ts";
import { junit, type Outcomes, sha } from "../support/health.ts";
import { isTesting, queueOf, touched } from "./queue-scenario.ts";
import type { Site } from "./site.ts";

const REPO = { host: "git.local", owner: "acme", name: "app" };
const AT = { repo: REPO, org_url_slug: "local" };
const OF = { org: orgSlug("local"), repo: repoKey(REPO) };

const failing = z.object({ tests: z.array(z.object({ id: z.string() })) });
const bundle = z.object({ id: z.string() });

async function upload(site: Site, outcomes: Outcomes, facts: Record<string, string> = {}): Promise<void> {
  const query = new URLSearchParams({
    repo: "acme/app",
    repoHost: "git.local",
    sha: sha("a"),
    branch: "main",
    job: "unit",
    ...facts,
  });
  const { status, body } = await site.sends(`/flaky-tests/upload-test-results?${query.toString()}`, junit(outcomes));
  if (status !== 200) throw new Error(JSON.stringify(body));
}

const suite = (size: number, outcome: string): Outcomes =>
  Object.fromEntries(Array.from({ length: size }, (_, at) => [`test ${at}`, at === 0 ? outcome : "."]));

/** Suites that differ by a test are told from one of them. */
async function uploads(site: Site): Promise<void> {
  for (let size = 40; size < 50; size += 1) await upload(site, suite(size, size % 2 === 0 ? "F" : "."));
  await upload(site, { ...suite(49, "F"), "test 1": "F" }, { sha: sha("b") });
  await upload(site, { "test 0": "R", "test 1": "F" }, { job: "other", branch: "topic" });
  await upload(site, { "test 0": "R", "test 1": "F" }, { job: "other", branch: "topic" });
  await lostSet(site);
  await agingSets(site);
}

/** An upload whose set of tests is gone. */
async function lostSet(site: Site): Promise<void> {
  await upload(site, { "test 0": "F", lonely: "." }, { job: "lonely" });
  for (const name of await namesOf(site, "lonely"))
    await site.table.client.send(new DeleteCommand({ TableName: site.table.name, Key: keys.testSet(OF, name) }));
}

async function namesOf(site: Site, job: string): Promise<readonly string[]> {
  const now = site.app.clock();
  const listed = await site.app.health.uploads(OF, epochMs(now - DAY_MS), later(now, HOUR_MS));
  return [...new Set(listed.filter((one) => one.job === job).map((one) => one.executed))];
}

/** One that is about to end and is still used lasts longer. */
async function agingSets(site: Site): Promise<void> {
  await upload(site, { "test 0": "F", aging: "." }, { job: "aging" });
  for (const name of await namesOf(site, "aging"))
    await touched(site, keys.testSet(OF, name), "expiresAtSeconds", Math.floor(Date.now() / 1000) + 60);
  await upload(site, { "test 0": "F", aging: "." }, { job: "aging", sha: sha("c") });
}

async function reads(site: Site): Promise<string> {
  const window = {
    start_time: new Date(site.app.clock() - 2 * DAY_MS).toISOString(),
    end_time: new Date(site.app.clock() + HOUR_MS).toISOString(),
  };
  const { body } = await site.asks("/flaky-tests/list-failing-tests", { ...AT, ...window });
  await site.asks("/flaky-tests/list-failing-tests", { ...AT, ...window, page_query: { page_size: 1 } });
  await site.asks("/flaky-tests/list-unhealthy-tests", AT);
  await site.asks("/flaky-tests/list-quarantined-tests", AT);
  const ids = failing.parse(body).tests.map(({ id }) => id);
  const [id = ""] = ids;
  await site.asks("/flaky-tests/get-test-details", { ...AT, test_id: id });
  await site.asks("/flaky-tests/get-settings", AT);
  const asked = { repo: REPO, orgUrlSlug: "local" };
  for (const some of [[id], ids])
    await site.asks("/metrics/getQuarantineConfig", { ...asked, testIdentifiers: some.map((one) => ({ id: one })) });
  return id;
}

async function decides(site: Site, id: string): Promise<void> {
  await site.asks("/flaky-tests/update-settings", { ...AT, defaultBranch: "main" });
  await site.asks("/flaky-tests/set-quarantine", { ...AT, test_case_id: id, setting: "ALWAYS_QUARANTINE" });
  await site.asks("/flaky-tests/link-ticket-to-test-case", { ...AT, test_case_id: id, external_ticket_id: "T-1" });
}

const failed = async () => ({
  statuses: [{ context: "unit", state: "FAILURE", url: null, description: null } as const],
  complete: true,
  repeats: 0,
  broken: null,
});

/** A queue that asks whether quarantined tests alone failed in a run, of which two failed and then one. */
async function forgiving(site: Site): Promise<void> {
  const queue = queueOf(site, "forgiving");
  await queue.asks("/createQueue", { forgiveQuarantined: true, retriesBeforeFailure: 0 });
  for (const [number, outcomes] of [
    [60, { "test 0": "F", "test 1": "F" }],
    [61, { "test 0": "F" }],
  ] as const) {
    await queue.submit(number);
    const running = await queue.settles(isTesting(1), `#${number} is tested`);
    const [run = ""] = running?.state.runs.keys() ?? [];
    await upload(site, outcomes, { test_run: run });
    site.hostDoes({ statuses: failed });
    await queue.asks("/explainPullRequest", { pr: { number } });
    // Once, which asks the host: what follows is the work of whoever is woken.
    await site.runs("sweep");
    await queue.ended(number);
    site.hostDoes({});
    await queue.asks("/explainPullRequest", { pr: { number } });
  }
}

/** Because time has passed; then by other rules another status, while somebody else writes the test. */
async function judged(site: Site, id: string): Promise<void> {
  site.passes(HOUR_MS);
  await site.runs("judge-tests");
  await site.asks("/flaky-tests/update-settings", { ...AT, rules: { failureRun: { isOn: true, runsMin: 1 } } });
  await betweenReadAndWrite(site, "judge-tests", id);
  site.passes(HOUR_MS);
  await site.runs("judge-tests");
  site.recorder.before(undefined);
}

async function betweenReadAndWrite(site: Site, of: string, id: string): Promise<void> {
  site.recorder.before(async ({ by, action, pk }) => {
    if (by !== of || action !== "PutItem" || pk !== keys.tests(OF)) return;
    site.recorder.before(undefined);
    const records = [...(await site.app.health.tests(OF, [id])).values(), ...(await site.app.health.allTests(OF))];
    for (const record of new Map(records.map((one) => [one.id, one])).values())
      await site.app.health.putTest(OF, record);
  });
}

const meta = (at: string) => ({
  version: "1",
  org: "local",
  repo: { repo: REPO, repo_root: "/app", repo_head_sha: at, repo_head_branch: "main" },
  file_sets: [{ file_set_type: "Junit", files: [{ original_path: "/app/junit.xml", path: "junit/0", owners: [] }] }],
  envs: {},
  variant: "",
  upload_time_epoch: Math.floor(Date.now() / 1000),
  codeowners: { path: "/app/CODEOWNERS" },
});

async function archive(files: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }));
  return zstdCompressSync(await packTar(entries));
}

/** One that is good, one that never comes, one that cannot be read, and one that fails for the service's own reasons. */
async function bundles(site: Site): Promise<void> {
  const announce = async (): Promise<string> => {
    const { body } = await site.asks("/metrics/createBundleUpload", { repo: REPO, orgUrlSlug: "local" });
    return bundle.parse(body).id;
  };
  const put = async (outcomes: Outcomes): Promise<void> => {
    const files = {
      "meta.json": JSON.stringify(meta(sha("d"))),
      "junit/0": junit(outcomes),
      CODEOWNERS: "* @acme/web\n",
    };
    site.blobs.set(`bundle-${await announce()}`, await archive(files));
  };
  await announce();
  for (let size = 40; size < 50; size += 1) await put({ ...suite(size, "F"), [`bundled ${size}`]: "F" });
  await put({ "test 0": "F" });
  await put({ "test 0": "F" });
  await site.runs("read-bundles");
  await racedAndAging(site, put);
  site.passes(HOUR_MS);
  await site.runs("read-bundles");
}

/** One whose set of tests is about to end, while somebody else writes its tests; and one that cannot be written. */
async function racedAndAging(site: Site, put: (outcomes: Outcomes) => Promise<void>): Promise<void> {
  for (const name of await namesOf(site, ""))
    await touched(site, keys.testSet(OF, name), "expiresAtSeconds", Math.floor(Date.now() / 1000) + 60);
  await put({ "test 0": "F", "test 1": "F" });
  const [any] = await site.app.health.allTests(OF);
  await betweenReadAndWrite(site, "read-bundles", any?.id ?? "");
  await site.runs("read-bundles");
  await put({ "test 2": "F" });
  site.recorder.before(({ by, action }) => {
    if (by === "read-bundles" && action === "UpdateItem") throw new Error("the table broke");
  });
  await site.runs("read-bundles");
  site.recorder.before(undefined);
}

/** As much of it as queues ask about. */
export async function forgiven(site: Site): Promise<void> {
  await uploads(site);
  await forgiving(site);
}

export async function health(site: Site): Promise<void> {
  await uploads(site);
  await site.runs("judge-tests");
  const id = await reads(site);
  await decides(site, id);
  await forgiving(site);
  await bundles(site);
  await judged(site, id);
  // Now that there are such as are broken, and such as are quarantined.
  await reads(site);
  await site.asks("/flaky-tests/get-upload", { repo: REPO, upload_id: "none" });
}
