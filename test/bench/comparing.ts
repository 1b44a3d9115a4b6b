/** What it costs to compare the impacted targets of one pull request with those of all others in a parallel queue. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_ORG } from "../../infra/local/admin-token.ts";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { entryId, type QueueKey } from "../../shared/kernel/ids.ts";
import { epochMs, systemClock } from "../../shared/kernel/time.ts";
import { compareTargets } from "../../shared/queue/app/compare.ts";
import type { QueueRecord, StoredEntry, TargetsStore } from "../../shared/queue/app/ports.ts";
import { newEntry } from "../../shared/queue/engine/new-entry.ts";
import type { Entry, Targets } from "../../shared/queue/engine/types.ts";
import { targetsStore } from "../../shared/table/targets-store.ts";
import { callsOf, type Cost } from "./meter.ts";
import { ms, promised, type Row, times, units } from "./report.ts";
import { factsOf } from "./scripted-host.ts";
import { type BenchService, requestOf } from "./service.ts";
import { median, timed } from "./timing.ts";

const TIMES = 5;

type Bench = { readonly service: BenchService; readonly store: () => TargetsStore };

/** No target of one is a target of another. */
const targetsOf = (count: number, of: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `//services/team-${of}/module-${at}:library`);

async function parallelQueue(service: BenchService, name: string): Promise<QueueKey> {
  const key: QueueKey = { ...(await service.queue(10)), branch: `comparing-${name}` };
  await service.client.post("/createQueue", { ...requestOf(key), mode: "parallel" });
  return key;
}

async function recordOf({ app }: BenchService, key: QueueKey): Promise<QueueRecord> {
  const record = await app.queues.find(key);
  if (record === undefined) throw new Error("the queue is not there");
  return record;
}

/** A queue whose pull requests have so many targets; the last ones, `asking`, have not been compared yet. */
async function aQueue({ service, store }: Bench, name: string, inLanes: readonly number[], asking: readonly number[]) {
  const key = await parallelQueue(service, name);
  const record = await recordOf(service, key);
  const kept = store();
  const enters = async (number: number, count: number): Promise<void> => {
    const { headSha } = factsOf(number, key.branch);
    const put = await kept.put(LOCAL_ORG, key.repo, number, headSha, targetsOf(count, number), "UPLOAD");
    await service.app.queues.submit(key, entered(record, number, put.targets, number <= inLanes.length), undefined);
  };
  const waiting = [...[...inLanes, ...asking].entries()];
  while (waiting.length > 0) await Promise.all(waiting.splice(0, 50).map(([at, count]) => enters(at + 1, count)));
  return key;
}

function entered({ id, key }: QueueRecord, number: number, targets: Targets, isInLane: boolean): StoredEntry {
  const at = epochMs(systemClock() - 3_600_000 + number);
  const facts = { pr: factsOf(number, key.branch), factsAt: at, trouble: null, submittedBy: "admin", submittedAt: at };
  const wishes = { priority: { value: 100, byDefault: true }, noBatch: false, targets: null };
  const standing: Partial<Entry> = isInLane
    ? { targets, lane: { number, overlaps: [], since: 0, isolated: false } }
    : { comparing: { number, targets } };
  const fresh = newEntry({ ...facts, ...wishes, id: entryId(`e${number}`), prNumber: number }, 0);
  const entry = { ...fresh, state: "PENDING", stateChangedAt: at, admittedAt: at, moves: 2, ...standing } as const;
  return { entry, queue: id, revision: 1, seen: true, landing: false };
}

/** Cold: nothing is remembered, as in a process that has just begun. */
type Taken = { readonly coldMs: number; readonly warmMs: number; readonly cold: Cost; readonly warm: Cost };

async function compared({ service }: Bench, key: QueueKey, number: number, targets: TargetsStore): Promise<void> {
  const { headSha } = factsOf(number, key.branch);
  const effect = { key: "compare", entry: entryId(`e${number}`), prNumber: number, headSha, number } as const;
  const event = await compareTargets({ ...service.app, targets }, key, { type: "compare-targets", ...effect });
  if (event?.type !== "targets-compared" || event.overlaps.length > 0) throw new Error("compared wrongly");
}

async function taken(bench: Bench, key: QueueKey, number: number): Promise<Taken> {
  const { service, store } = bench;
  const compare = (targets: TargetsStore): Promise<void> => compared(bench, key, number, targets);
  await compare(store());
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TIMES; turn += 1) {
    const fresh = store();
    cold.push(await timed(() => compare(fresh)));
    warm.push(await timed(() => compare(fresh)));
  }
  const counted = store();
  const { cost } = await service.meter.during(() => compare(counted));
  const { cost: again } = await service.meter.during(() => compare(counted));
  return { coldMs: median(cold), warmMs: median(warm), cold: cost, warm: again };
}

const PRS = 1_000;
const EACH = 1_000;
const LARGE = 100_000;
/** Eight kilobytes of hashes are three half units: what never changes need not be read consistently. */
const UNITS_PER_PR_MAX = 1.5;
/** The set of the one that asks itself, and what is large beside the thousand, which is no item. */
const UNITS_BESIDE = 2;

async function large(bench: Bench): Promise<readonly Row[]> {
  const inLanes = Array.from({ length: PRS }, () => EACH);
  const key = await aQueue(bench, "large", inLanes, [LARGE, EACH]);
  const bound = PRS * UNITS_PER_PR_MAX + UNITS_BESIDE;
  const row = (name: string, { coldMs, warmMs, cold, warm }: Taken): Row => {
    const reads = cold.reads - warm.reads;
    const said = `${ms(coldMs)} (${units(reads)} read units beside the queue's ${units(warm.reads)}: ${callsOf(cold)}); remembered: ${ms(warmMs)}`;
    const numbers = { coldMs, warmMs, reads, queueReads: warm.reads };
    return promised("compare", name, said, { goal: `at most ${units(bound)} units`, holds: reads <= bound }, numbers);
  };
  const others = `${PRS} PRs of ${EACH} targets each`;
  return [
    row(`${LARGE} targets with ${others}`, await taken(bench, key, PRS + 1)),
    row(`${EACH} targets with ${others} and one of ${LARGE}`, await taken(bench, key, PRS + 2)),
  ];
}

const SIZES = [10, 100, 1_000, 10_000] as const;
const GROWN_PRS = 100;
/** Noise on top of what is in proportion. */
const GROWTH_MAX = 12;

async function growing(bench: Bench): Promise<Row> {
  const took: Taken[] = [];
  for (const size of SIZES) {
    const inLanes = Array.from({ length: GROWN_PRS }, () => size);
    const key = await aQueue(bench, `of-${size}`, inLanes, [EACH]);
    took.push(await taken(bench, key, GROWN_PRS + 1));
  }
  const cold = took.map((one) => one.coldMs);
  const growth = (cold[3] ?? Number.NaN) / (cold[2] ?? Number.NaN);
  const said = `${cold.map(ms).join(", ")}; ${times(growth)} in the last decade`;
  const numbers = Object.fromEntries(SIZES.map((size, at) => [`ms${size}`, cold[at] ?? Number.NaN]));
  const name = `${EACH} targets with ${GROWN_PRS} PRs of ${SIZES.map((size) => size.toLocaleString("en")).join("; ")}`;
  const verdict = { goal: `1,000 to 10,000: at most ${times(GROWTH_MAX)}`, holds: growth <= GROWTH_MAX };
  return promised("compare", name, said, verdict, { ...numbers, growth });
}

const ASKING = 50;
/** One that has begun, and one for all who came meanwhile. */
const READINGS_MAX = 2;

/** As many as a step of the loop sends at once, when a queue begins to make lanes. */
async function together(bench: Bench): Promise<Row> {
  const { service, store } = bench;
  const inLanes = Array.from({ length: GROWN_PRS }, () => EACH);
  const key = await aQueue(
    bench,
    "together",
    inLanes,
    Array.from({ length: ASKING }, () => EACH),
  );
  const numbers = Array.from({ length: ASKING }, (_, at) => GROWN_PRS + 1 + at);
  const all = async (): Promise<void> => {
    const fresh = store();
    await Promise.all(numbers.map((number) => compared(bench, key, number, fresh)));
  };
  await all();
  const took: number[] = [];
  for (let turn = 0; turn < TIMES; turn += 1) took.push(await timed(all));
  const { cost } = await service.meter.during(all);
  const readings = cost.calls["QueryCommand"] ?? 0;
  const name = `${ASKING} of ${EACH} targets at once with ${GROWN_PRS} PRs of as many`;
  const verdict = { goal: `at most ${READINGS_MAX} readings of the queue`, holds: readings <= READINGS_MAX };
  const said = `${ms(median(took))}, ${units(cost.reads)} read units (${callsOf(cost)})`;
  return promised("compare", name, said, verdict, { ms: median(took), reads: cost.reads, readings });
}

/** What every look at the queue costs: the worst that lanes add to it is that everybody overlaps everybody ahead. */
async function reading({ service }: Bench): Promise<Row> {
  const read = async (isShared: boolean) => {
    const key = await parallelQueue(service, isShared ? "all-overlap" : "none-overlap");
    const record = await recordOf(service, key);
    const targets = { kind: "SET", digest: "d".repeat(64), count: EACH } as const;
    for (let number = 1; number <= PRS; number += 1) {
      const one = entered(record, number, targets, true);
      const ahead = Array.from({ length: isShared ? number - 1 : 0 }, (_, at) => at + 1);
      const lane = { number, overlaps: ahead, since: 0, isolated: false };
      await service.app.queues.submit(key, { ...one, entry: { ...one.entry, lane } }, undefined);
    }
    const took: number[] = [];
    const view = () => service.app.queues.view(key);
    for (let turn = 0; turn < TIMES; turn += 1) took.push(await timed(view));
    return { ms: median(took), reads: (await service.meter.during(view)).cost.reads };
  };
  const [none, all] = [await read(false), await read(true)];
  const growth = all.reads / none.reads;
  const said = `${units(all.reads)} read units, ${ms(all.ms)}; where none does: ${units(none.reads)}, ${ms(none.ms)}`;
  const verdict = { goal: `at most ${times(GROWN_BY_OVERLAP_MAX)} the units`, holds: growth <= GROWN_BY_OVERLAP_MAX };
  const numbers = { reads: all.reads, ms: all.ms, readsOfNone: none.reads, msOfNone: none.ms };
  return promised("compare", `reading ${PRS} PRs that all overlap each other`, said, verdict, numbers);
}

const GROWN_BY_OVERLAP_MAX = 2;

export async function comparing(service: BenchService): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "mainline-bench-blobs-"));
  const bench: Bench = { service, store: () => targetsStore(service.table, blobFolder(folder)) };
  try {
    return [...(await large(bench)), await growing(bench), await together(bench), await reading(bench)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
