/** Some merged pull requests of a parallel queue, through the real handlers and the real table, counted one by one. */
import type { QueueKey } from "../../../shared/kernel/ids.ts";
import { LOCAL_ORG } from "../../../infra/local/admin-token.ts";
import { PER_PULL_REQUEST } from "../../../infra/cost/assumptions.ts";
import { advance } from "../../../shared/queue/app/advance.ts";
import { reportRun } from "../../../shared/queue/app/news.ts";
import { perform } from "../../../shared/queue/app/perform.ts";
import { sweep } from "../../../shared/queue/app/sweep.ts";
import { succeeded } from "../http-client.ts";
import type { Cost } from "../meter.ts";
import { factsOf } from "../scripted-host.ts";
import { type BenchService, requestOf } from "../service.ts";

/** Enough of them to be in the queue together, as on a working day. */
const SAMPLE = 40;
const TOGETHER = 4;

export type Counted = { readonly reads: number; readonly writes: number };
export type QueueMonth = {
  /** Per merged pull request. */
  readonly requests: Counted & { readonly count: number };
  readonly loop: Counted & { readonly advances: number; readonly effects: number };
  /** One of each. */
  readonly scrape: Counted;
  readonly idleSweep: Counted;
  /** In addition, for each pull request that is in the queue. */
  readonly sweepOfOne: Counted;
};

const KEY: QueueKey = { org: LOCAL_ORG, repo: { host: "git.local", owner: "acme", name: "app" }, branch: "month" };

const counted = ({ reads, writes }: Cost): Counted => ({ reads, writes });
const each = ({ reads, writes }: Counted, of: number): Counted => ({ reads: reads / of, writes: writes / of });
const together = (a: Counted, b: Counted): Counted => ({ reads: a.reads + b.reads, writes: a.writes + b.writes });
const NONE: Counted = { reads: 0, writes: 0 };

type Loop = { advances: number; effects: number };

/** As many calls as there are messages: what the stream gives out together is cheaper. */
async function settles({ app, observer }: BenchService, loop: Loop): Promise<void> {
  const turn = async (): Promise<void> => {
    loop.advances += 1;
    await advance(app, KEY);
  };
  await turn();
  for (;;) {
    const effects = await observer.waitingEffects(KEY, app.clock());
    if (effects.length === 0) return;
    for (const effect of effects) {
      loop.effects += 1;
      await perform(app, KEY, effect);
      await turn();
    }
  }
}

/** Targets that overlap with some others': every tenth set is like another. */
const targetsOf = (number: number): readonly string[] =>
  Array.from({ length: PER_PULL_REQUEST.impactedTargets }, (_, at) => `//area-${number % 10}:target-${at}`);

async function asked({ client }: BenchService, numbers: readonly number[]): Promise<number> {
  const at = requestOf(KEY);
  for (const number of numbers) {
    const pr = { number, sha: factsOf(number, KEY.branch).headSha };
    await client.post("/setImpactedTargets", { ...at, pr, impactedTargets: targetsOf(number) });
    await client.post("/submitPullRequest", { ...at, pr: { number } });
    for (let turn = 0; turn < PER_PULL_REQUEST.reads; turn += 1)
      await client.post("/getSubmittedPullRequest", { ...at, pr: { number } });
  }
  return numbers.length * (2 + PER_PULL_REQUEST.reads);
}

async function tested(service: BenchService, loop: Loop): Promise<void> {
  const { app, host, observer } = service;
  for (;;) {
    const running = [...((await observer.view(KEY))?.state.runs.values() ?? [])].filter(
      (run) => run.phase === "TESTING",
    );
    if (running.length === 0) return;
    for (const { id } of running) {
      for (let report = 1; report <= PER_PULL_REQUEST.reports; report += 1) {
        if (report === PER_PULL_REQUEST.reports) host.passes(id);
        await reportRun(app, host, KEY, id);
        await settles(service, loop);
      }
    }
  }
}

export async function queueMonth(service: BenchService): Promise<QueueMonth> {
  const { client, meter, app } = service;
  await client.post("/createQueue", { ...requestOf(KEY), mode: "PARALLEL" });
  await settles(service, { advances: 0, effects: 0 });
  const swept = async (): Promise<Counted> => counted((await meter.during(() => sweep(app))).cost);
  const idleSweep = await swept();
  const loop: Loop = { advances: 0, effects: 0 };
  let [requests, loops, busy, count] = [NONE, NONE, NONE, 0];
  for (let number = 1; number <= SAMPLE; number += TOGETHER) {
    const numbers = Array.from({ length: TOGETHER }, (_, at) => number + at);
    const sent = await meter.during(() => asked(service, numbers));
    count += sent.given;
    requests = together(requests, sent.cost);
    loops = together(loops, (await meter.during(() => settles(service, loop))).cost);
    busy = together(busy, await swept());
    loops = together(loops, (await meter.during(() => settles(service, loop))).cost);
    loops = together(loops, (await meter.during(() => tested(service, loop))).cost);
  }
  const merged = (await service.observer.view(KEY))?.state.totals.merged;
  if (merged !== SAMPLE) throw new Error(`${merged ?? "none"} of ${SAMPLE} were merged`);
  const path = "/getMergeQueueMetrics";
  const scrape = await meter.during(async () => succeeded(path, await client.send(path, { method: "GET" })));
  const groups = SAMPLE / TOGETHER;
  const sweepOfOne = each(
    { reads: busy.reads / groups - idleSweep.reads, writes: busy.writes / groups - idleSweep.writes },
    TOGETHER,
  );
  return {
    requests: { ...each(requests, SAMPLE), count: count / SAMPLE },
    loop: { ...each(loops, SAMPLE), advances: loop.advances / SAMPLE, effects: loop.effects / SAMPLE },
    scrape: counted(scrape.cost),
    idleSweep,
    sweepOfOne,
  };
}
