/** What a submission costs in capacity units: the request itself, and beside it what the loop does for it. */
import type { QueueKey } from "../../shared/kernel/ids.ts";
import { firstRun, passes, settles } from "./loop.ts";
import { type Cost, callsOf } from "./meter.ts";
import { promised, type Row, stated, units } from "./report.ts";
import { type BenchService, requestOf } from "./service.ts";

const WRITES_MAX = 14;
const READS_MAX = 10;
const SIZES = [10, 1_000] as const;
const TIMES = 3;
/** Numbers beyond those that the queue was seeded with. */
const NEW_FROM = 100_000;

export async function submit(service: BenchService): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const costs: Cost[] = [];
  for (const size of SIZES) {
    const key = await service.queue(size);
    await settles(service, key);
    const request = await requestCost(service, key);
    costs.push(request);
    const { writes, reads } = request;
    const holds = writes <= WRITES_MAX && reads <= READS_MAX;
    const said = `${units(writes)} written, ${units(reads)} read (${callsOf(request)})`;
    const goal = { goal: `at most ${WRITES_MAX} and ${READS_MAX}`, holds };
    rows.push(promised("submit", `submitPullRequest with ${size} in the queue`, said, goal, { writes, reads }));
    rows.push(...(await loopRows(service, key, size)));
  }
  const [few, many] = costs;
  const alike = few !== undefined && many !== undefined && few.writes === many.writes && few.reads === many.reads;
  const verdict = { goal: "equal", holds: alike };
  return [...rows, promised("submit", "submitPullRequest, 10 against 1,000", alike ? "equal" : "differs", verdict, {})];
}

/** The dearest of several, each of a pull request that was never there. */
async function requestCost({ client, meter }: BenchService, key: QueueKey): Promise<Cost> {
  const costs: Cost[] = [];
  for (let number = NEW_FROM; number < NEW_FROM + TIMES; number += 1) {
    const work = () => client.post("/submitPullRequest", { ...requestOf(key), pr: { number } });
    costs.push((await meter.during(work)).cost);
  }
  const dearest = costs.toSorted((a, b) => b.writes + b.reads - a.writes - a.reads)[0];
  if (dearest === undefined) throw new Error("nothing was measured");
  return dearest;
}

async function loopRows(service: BenchService, key: QueueKey, size: number): Promise<readonly Row[]> {
  const { meter, client } = service;
  await settles(service, key);
  await client.post("/submitPullRequest", { ...requestOf(key), pr: { number: NEW_FROM + TIMES } });
  const taken = await meter.during(() => settles(service, key));
  const landed = await meter.during(async () => {
    await passes(service, key, await firstRun(service, key));
    await settles(service, key);
  });
  const row = (name: string, { writes, reads }: Cost): Row => {
    const said = `${units(writes)} written, ${units(reads)} read`;
    return stated("submit", `  ${name}, with ${size}`, said, { writes, reads });
  };
  return [
    row("the loop takes one in", taken.cost),
    row("the loop tests one, lands it and starts the next", landed.cost),
  ];
}
