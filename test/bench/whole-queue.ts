/** What looks at a whole queue of 1,000 pull requests: getQueue, explainPullRequest, and a scrape of the metrics. */
import { type Client, succeeded } from "./http-client.ts";
import { type Cost, callsOf } from "./meter.ts";
import { kib, ms, promised, type Row, stated, units } from "./report.ts";
import { type BenchService, requestOf } from "./service.ts";
import { median, timed } from "./timing.ts";

const SIZE = 1_000;
/** A Query answers so much at a time (AWS): a queue beyond it is read in pages of the same query. */
const PAGE_BYTES = 1024 * 1024;
const READ_UNIT_BYTES = 4 * 1024;
const TIMES = 7;

export async function wholeQueue(service: BenchService): Promise<readonly Row[]> {
  const { client, meter } = service;
  const key = await service.queue(SIZE);
  const asked = requestOf(key);
  const metered = async (work: (client: Client) => Promise<{ readonly body: Buffer }>) => {
    await work(client);
    const took: number[] = [];
    for (let turn = 0; turn < TIMES; turn += 1) took.push(await timed(() => work(client)));
    const { given, cost } = await meter.during(() => work(client));
    return { cost, ms: median(took), bytes: given.body.length };
  };
  const queue = await metered((http) => http.post("/getQueue", asked));
  const explain = await metered((http) => http.post("/explainPullRequest", { ...asked, pr: { number: 500 } }));
  const path = `/getMergeQueueMetrics?repo=${asked.repo.owner}/${asked.repo.name}&repoHost=${asked.repo.host}`;
  const scrape = await metered(async (http) => succeeded(path, await http.send(path, { method: "GET" })));

  const said = (one: typeof queue): string =>
    `${units(one.cost.reads)} read units, ${ms(one.ms)}, ${kib(one.bytes)} (${callsOf(one.cost)})`;
  const numbers = (one: typeof queue) => ({ reads: one.cost.reads, ms: one.ms, bytes: one.bytes });
  const verdict = { goal: "one query, no read per PR", holds: isOneQuery(queue.cost) };
  return [
    promised("queue", `getQueue with ${SIZE} PRs`, said(queue), verdict, numbers(queue)),
    stated("queue", `explainPullRequest with ${SIZE} PRs`, said(explain), numbers(explain)),
    stated("queue", "a scrape of the metrics of every queue so far", said(scrape), numbers(scrape)),
  ];
}

/** No other kind of read, and no more pages than the bytes that were read need. */
function isOneQuery({ calls, reads, writes }: Cost): boolean {
  const pages = Math.ceil((reads * READ_UNIT_BYTES) / PAGE_BYTES);
  const { QueryCommand: queries = 0, ...others } = calls;
  return Object.keys(others).length === 0 && queries <= pages && writes === 0;
}
