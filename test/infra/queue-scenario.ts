/** Everything that queues can meet, so that every function of theirs makes every call that it ever makes. */
import { DeleteCommand, PutCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { HostUnavailable } from "../../shared/code-host/port.ts";
import { orgSlug, type QueueKey, repoKey } from "../../shared/kernel/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../shared/kernel/time.ts";
import { keys } from "../../shared/table/keys.ts";
import { factsOf } from "../bench/scripted-host.ts";
import type { Site } from "./site.ts";

const REPO = { host: "git.local", owner: "acme", name: "app" };
/** More than fit an item. */
const MANY = Array.from({ length: 40_000 }, (_, at) => `//target/${at}`);

export type QueueOf = ReturnType<typeof queueOf>;

export function queueOf(site: Site, targetBranch: string) {
  const at = { repo: REPO, targetBranch };
  const key: QueueKey = { org: orgSlug("local"), repo: repoKey(REPO), branch: targetBranch };
  const asks = (path: string, fields: object = {}, headers: Record<string, string> = {}) =>
    site.asks(path, { ...at, ...fields }, headers);
  const view = () => site.app.queues.view(key);
  return {
    key,
    asks,
    view,
    submit: (number: number, more: object = {}) => asks("/submitPullRequest", { pr: { number }, ...more }),
    targets: (number: number, impactedTargets: unknown) =>
      asks("/setImpactedTargets", {
        pr: { number, sha: factsOf(number, targetBranch).headSha },
        impactedTargets,
      }),
    settles: (is: (queue: Awaited<ReturnType<typeof view>>) => boolean, what: string) =>
      site.until(view, is, { what: `${targetBranch}: ${what}` }),
    ended: (number: number) =>
      site.until(
        async () => (await site.app.queues.submissions(key, [number])).get(number),
        (found) => found !== undefined && found.stored === undefined,
        { what: `#${number} ended` },
      ),
    /** Every test run that is there passes. */
    passes: async () => {
      for (const run of (await view())?.state.runs.values() ?? []) site.host.passes(run.id);
    },
  };
}

export const isTesting = (count: number) => (queue: Awaited<ReturnType<QueueOf["view"]>>) =>
  [...(queue?.state.runs.values() ?? [])].filter((run) => run.phase === "TESTING").length >= count;

/** Submitted, tested, landed: the plain way, with a batch of two. */
async function landing(site: Site): Promise<void> {
  const queue = queueOf(site, "main");
  await queue.asks("/createQueue", { batch: true, batchingMinSize: 2, concurrency: 1, batchingMaxWaitTimeMinutes: 0 });
  await queue.asks("/createQueue");
  await queue.submit(1);
  await queue.settles(isTesting(1), "#1 is tested");
  await queue.submit(2);
  await queue.submit(3, { priority: "high" });
  await queue.submit(3, { priority: "low" });
  await queue.asks("/restartTestsOnPullRequest", { pr: { number: 2 } });
  await reads(queue, 1);
  for (const numbers of [[1], [2, 3]]) {
    await queue.settles(isTesting(1), `${numbers.join()} is tested`);
    await queue.passes();
    for (const number of numbers) {
      await site.until(
        async () => (await site.app.queues.submissions(queue.key, [number])).get(number)?.stored === undefined,
        (ended) => ended,
        { what: `#${number} has landed` },
      );
    }
  }
  await reads(queue, 2);
  await queue.submit(1);
  for (const path of ["/cancelPullRequest", "/restartTestsOnPullRequest"])
    await queue.asks(path, { pr: { number: 1 } });
  await queue.submit(4);
  await queue.asks("/cancelPullRequest", { pr: { number: 4 } });
  await queue.ended(4);
  await queue.submit(5);
}

/** Of a pull request that is live, and of one that has ended. */
async function reads(queue: QueueOf, number: number): Promise<void> {
  const pr = { number };
  await queue.asks("/getSubmittedPullRequest", { pr, includeTimeline: true });
  await queue.asks("/getSubmittedPullRequest", { pr: { branch: factsOf(number, "main").headBranch } });
  await queue.asks("/getSubmittedPullRequests", { prs: [pr] });
  await queue.asks("/getSubmittedPullRequests", { prs: [pr, { number: 99 }, { number: 98 }] });
  await queue.asks("/listPullRequests");
  await queue.asks("/listPullRequests", { state: "MERGED", since: new Date(Date.now() - HOUR_MS).toISOString() });
  await queue.asks("/getMergeQueueTestingDetails", { pr });
  await queue.asks("/getMergeQueueTestingDetails");
  await queue.asks("/explainPullRequest", { pr });
  await queue.asks("/getQueue");
}

/** Impacted targets of every size, sent and found, and compared. */
async function lanes(site: Site): Promise<void> {
  const queue = queueOf(site, "lanes");
  const batchingRules = [{ targetPattern: "//isolated/*", policy: "isolate" }];
  await queue.asks("/createQueue", { mode: "parallel", batch: true, batchingRules });
  await queue.submit(20);
  await queue.targets(20, ["//a", "//isolated/b"]);
  await queue.submit(21);
  await queue.targets(21, MANY);
  await queue.submit(22);
  await queue.targets(22, ["//a", ...MANY.slice(1)]);
  await queue.submit(23);
  await queue.targets(23, ["//a", "//c"]);
  await queue.targets(24, ["//c", "//d"]);
  await queue.submit(24);
  await queue.settles(haveLanes, "lanes");
  await lostTargets(site, queue);
  await queue.asks("/getMergeQueueTestingDetails");
  await uploaded(site, queue);
  await fromPaths(site);
}

const haveLanes = (found: Awaited<ReturnType<QueueOf["view"]>>): boolean =>
  found?.entries.every(({ seen, entry }) => seen && entry.lane !== null) === true;

/** A set that is compared with, and is gone. */
async function lostTargets(site: Site, queue: QueueOf): Promise<void> {
  const live = await queue.view();
  const lost = [...(live?.state.entries.values() ?? [])].find((one) => one.prNumber === 23)?.targets;
  if (lost?.kind !== "SET") throw new Error("#23 has no set of targets");
  const Key = keys.targetHashes(queue.key.org, lost.digest);
  await site.table.client.send(new DeleteCommand({ TableName: site.table.name, Key }));
  await queue.targets(25, ["//d"]);
  await queue.submit(25);
  await queue.settles(haveLanes, "a lane of #25");
}

async function uploaded(site: Site, queue: QueueOf): Promise<void> {
  const pr = { number: 23, sha: factsOf(23, "lanes").headSha };
  const { body } = await queue.asks("/setImpactedTargets/upload", { pr });
  const uploadId = String(Reflect.get(Object(body), "uploadId"));
  site.blobs.set(uploadId, Buffer.from(JSON.stringify(["//e"])));
  await queue.asks("/setImpactedTargets", { pr, uploadId });
}

/** A host that says what a commit changes; once where somebody else has said so in the meantime. */
async function fromPaths(site: Site): Promise<void> {
  const queue = queueOf(site, "paths");
  site.hostDoes({
    tip: async (repo, branch, since, heads) => {
      const read = await site.host.tip(repo, branch, since, heads);
      return read === "MISSING" ? read : { ...read, tip: { ...read.tip, targetsFromPaths: true } };
    },
    impactedTargets: async (_repo, number) => {
      if (number === 31) await queue.targets(31, ["//sent"]);
      return number === 32 ? MANY : [`//path/${number}`, "//path"];
    },
  });
  await queue.asks("/createQueue", { mode: "parallel" });
  for (const number of [30, 31, 32]) await queue.submit(number);
  await queue.settles(haveLanes, "paths");
  site.hostDoes({});
}

/** Deleted while somebody submits, given up half-way, and taken up again by the sweep. */
async function deleting(site: Site): Promise<void> {
  const queue = queueOf(site, "gone");
  await queue.asks("/createQueue");
  await queue.asks("/updateQueue", { concurrency: 3, reason: "quicker" });
  await meanwhile(site, queue, "submit-pull-request", () => queue.submit(40));
  await queue.asks("/deleteQueue");
  const half = queueOf(site, "half");
  await half.asks("/createQueue");
  const found = await half.view();
  if (found === undefined) throw new Error("the queue is not there");
  await site.app.queues.update(found.record, { ...found.record, deleting: true }, undefined);
  await site.runs("sweep");
  const full = queueOf(site, "full");
  await full.asks("/createQueue", { state: "PAUSED" });
  await meanwhile(
    site,
    full,
    "delete-queue",
    () => full.asks("/deleteQueue"),
    "Query",
    () => full.submit(41),
  );
}

/** After the first write of a function, and before it reads again, the queue is marked as being deleted. */
async function meanwhile(
  site: Site,
  queue: QueueOf,
  of: string,
  work: () => Promise<unknown>,
  next: string = "GetItem",
  act?: () => Promise<unknown>,
): Promise<void> {
  let wrote = false;
  site.recorder.before(async ({ by, action }) => {
    if (by === of && action === "PutItem") wrote = true;
    if (by !== of || !wrote || action !== next) return;
    site.recorder.before(undefined);
    if (act !== undefined) return void (await act());
    const found = await queue.view();
    if (found !== undefined) await site.app.queues.update(found.record, { ...found.record, deleting: true }, undefined);
  });
  await work();
  site.recorder.before(undefined);
}

/** A queue that cannot be read is marked, by whoever is woken for it and by the sweep. */
async function degraded(site: Site): Promise<void> {
  const queue = queueOf(site, "broken");
  await queue.asks("/createQueue");
  const Item = {
    ...keys.inbox(queue.key, site.app.clock(), "x"),
    entity: "INBOX",
    schema: 1,
    key: queue.key,
    event: {},
  };
  await site.table.client.send(new PutCommand({ TableName: site.table.name, Item }));
  const isMarked = (found: Awaited<ReturnType<QueueOf["view"]>>): boolean => found?.degraded !== null;
  await queue.settles(isMarked, "it is degraded");
  site.passes(2 * MINUTE_MS);
  await site.runs("sweep");
}

/** Hosts that do not answer: effects are put off, performed again by the sweep, and explained. */
async function troubled(site: Site): Promise<void> {
  const queue = queueOf(site, "trouble");
  const fails = async (): Promise<never> => {
    throw new Error("the host broke");
  };
  const unreachable = async (): Promise<never> => {
    throw new HostUnavailable("the network is down");
  };
  await queue.asks("/createQueue");
  site.hostDoes({ tip: fails, statuses: fails, pullRequest: unreachable });
  await queue.submit(50);
  site.hostDoes({ tip: fails, statuses: fails });
  await queue.asks("/explainPullRequest", { pr: { number: 50 } });
  site.passes(2 * MINUTE_MS);
  await site.runs("sweep");
  site.hostDoes({});
  site.passes(HOUR_MS);
  // Whoever is woken by this, and not the sweep, is the first to hear what the host answers now.
  await queue.asks("/updateQueue", { concurrency: 4 });
  await queue.settles(isTesting(1), "#50 is tested");
  await untold(site, queue);
}

/** Sets whose uploader died before it told anybody, effects that nobody has begun, and news that the host kept. */
async function untold(site: Site, queue: QueueOf): Promise<void> {
  const { key } = queue;
  await site.app.targets.put(key.org, key.repo, 50, factsOf(50, "trouble").headSha, ["//untold"], "UPLOAD");
  site.hostDoes({ pullRequest: async (_repo, number, branch) => ({ ...factsOf(number, branch), title: "Another" }) });
  for (let turn = 0; turn < 3; turn += 1) await site.runs("sweep");
  site.hostDoes({});
}

export const touched = (site: Site, key: { pk: string; sk: string }, name: string, value: unknown): Promise<unknown> =>
  site.table.client.send(
    new UpdateCommand({
      TableName: site.table.name,
      Key: key,
      UpdateExpression: "SET #name = :value",
      ExpressionAttributeNames: { "#name": name },
      ExpressionAttributeValues: { ":value": value },
    }),
  );

export async function queues(site: Site): Promise<void> {
  await landing(site);
  await lanes(site);
  await deleting(site);
  await degraded(site);
  await troubled(site);
  await site.asks("/listQueues");
  await site.reads("/getMergeQueueMetrics");
}
