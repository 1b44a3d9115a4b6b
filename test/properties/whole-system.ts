/**
 * A world of the policies' benchmark, lived through by the whole service: the real use cases, loop, outbox and table.
 * Only the code host is the benchmark's own, and time is the world's.
 */
import { type Wiring, wired } from "../../functions/wiring.ts";
import type { CodeHost } from "../../shared/code-host/port.ts";
import { commitSha, type CommitSha, orgSlug, type QueueKey, type RunId, treeSha } from "../../shared/kernel/ids.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { later } from "../../shared/kernel/time.ts";
import { advance } from "../../shared/queue/app/advance.ts";
import { reportRun } from "../../shared/queue/app/news.ts";
import { perform } from "../../shared/queue/app/perform.ts";
import { createQueue } from "../../shared/queue/app/queues.ts";
import { submit } from "../../shared/queue/app/submit.ts";
import { setTargets } from "../../shared/queue/app/targets.ts";
import type { Decision } from "../../shared/queue/engine/types.ts";
import type { QueueSettingsPatch } from "../../shared/schemas/queue-settings.ts";
import type { Table } from "../../shared/table/client.ts";
import { newLedger, noteEjected, noteLanded } from "../bench/policies/ledger.ts";
import type { Watch } from "../bench/policies/mainline/drive.ts";
import { runnersOf } from "../bench/policies/mainline/runners.ts";
import { newTrunk, outcomeOf } from "../bench/policies/trunk.ts";
import type { World } from "../bench/policies/world.ts";
import { aPullRequest, aTip, START, status } from "../support/queue.ts";

const CHECK = "unit";
const NOTHING = () => undefined;
const key: QueueKey = {
  org: orgSlug("local"),
  repo: { host: "git.local", owner: "acme", name: "app" },
  branch: "main",
};
const changeOf = (prNumber: number): number => prNumber - 1;
/** Forty hex digits, as the table and the engine pass them on. */
const tipAfter = (landed: number) => aTip(landed.toString(16).padStart(40, "0"), [CHECK]);
const headOf = (number: number): CommitSha => commitSha((number + 0x1000).toString(16).padStart(40, "a"));

/** The world's workers, and what they say, behind the port that the service knows. */
function hostOf(world: World) {
  const ledger = newLedger(world.count);
  const trunk = newTrunk(world);
  const runners = runnersOf(world.workers, ledger);
  const landedAt = new Map<string, number>([[tipAfter(0).sha, 0]]);
  const built = new Map<
    RunId,
    { tested: readonly number[]; base: number; onTop: readonly number[]; rank: "MAIN" | "BISECTION" }
  >();
  const results = new Map<RunId, { repeats: number; passed: boolean | undefined }>();
  /** What the build effect does not tell, and the runs' lanes follow from: written by whoever sees the decisions. */
  const groups = new Map<RunId, { tested: readonly number[]; rank: "MAIN" | "BISECTION" }>();
  let now = 0;
  let tip = tipAfter(0);

  const begin = (run: RunId, repeat: number): void => {
    const made = built.get(run);
    if (made === undefined) return;
    const { tested, base, onTop, rank } = made;
    const wholeMs = tested.reduce((longest, change) => Math.max(longest, world.takes[change] ?? 0), 0);
    const takesMs = repeat === 0 ? wholeMs : Math.max(1, Math.round(wholeMs * world.load.repeatShare));
    const passes = (): boolean => outcomeOf(trunk, base, onTop);
    results.set(run, { repeats: repeat, passed: undefined });
    runners.begin({ run, repeat, rank: repeat > 0 ? "REPEAT" : rank, tested, takesMs, passes }, now);
  };
  const host: CodeHost = {
    pullRequest: async (_repo, number) => aPullRequest(number, { headSha: headOf(number) }),
    tip: async () => ({ tip, reached: [] }),
    impactedTargets: async () => "ALL",
    buildRun: async ({ run, base, changes }) => {
      const group = groups.get(run);
      const from = landedAt.get(base);
      if (group === undefined || from === undefined) throw new Error(`${run} is built on nothing that is known`);
      if (!built.has(run)) {
        built.set(run, { ...group, base: from, onTop: changes.map((change) => changeOf(change.prNumber)) });
        begin(run, 0);
      }
      return { ok: true, value: { commit: commitSha(`c${run}`), tree: treeSha(`t${run}`) } };
    },
    repeatChecks: async (_repo, run, repeat) => begin(run, repeat),
    statuses: async (_repo, run) => {
      const { repeats = 0, passed } = results.get(run) ?? {};
      const state = passed === undefined ? "PENDING" : passed ? "SUCCESS" : "FAILURE";
      return { statuses: [status(CHECK, state)], complete: passed !== undefined, repeats, broken: null };
    },
    closeRun: async (_repo, run) => {
      built.delete(run);
      runners.stop(run, now);
    },
    land: async ({ changes, expectedTip }) => {
      if (expectedTip !== tip.sha) return { ok: false, why: { kind: "TIP_MOVED" } };
      for (const { prNumber } of changes) noteLanded(ledger, trunk, changeOf(prNumber), now);
      tip = tipAfter(trunk.landed);
      landedAt.set(tip.sha, trunk.landed);
      return { ok: true, value: { tip, trees: "EQUAL" } };
    },
  };
  return {
    host,
    runners,
    goTo: (at: number) => void (now = at),
    sees: ({ state, endedEntries }: Decision): void => {
      for (const run of state.runs.values()) {
        const tested = run.group.flatMap((id) => state.entries.get(id)?.prNumber ?? []).map(changeOf);
        const rank = run.kind === "BISECTION" ? "BISECTION" : "MAIN";
        groups.set(run.id, { tested, rank });
      }
      for (const entry of endedEntries)
        if (entry.state === "FAILED") noteEjected(ledger, trunk, changeOf(entry.prNumber), now);
    },
    ends: (): RunId | undefined => {
      const ended = runners.end(now);
      if (ended === undefined) return undefined;
      results.set(ended.job.run, { repeats: ended.job.repeat, passed: ended.passed });
      return ended.job.run;
    },
  };
}

/** Every pair that overlaps shares a target that nobody else has. */
const targetsOf = (world: World, change: number): readonly string[] => [
  `//own/${change}`,
  ...[...(world.earlier[change] ?? [])].map((other) => `//pair/${other}-${change}`),
  ...[...(world.later[change] ?? [])].map((other) => `//pair/${change}-${other}`),
];

const ROUNDS_MAX = 200;

export async function live(table: Table, world: World, patch: QueueSettingsPatch, watch: Watch): Promise<void> {
  const site = hostOf(world);
  let nowMs = 0;
  let wakeAt: number | undefined;
  const door = {
    grantUpload: async (): Promise<never> => Promise.reject(new Error("no uploads")),
    readUpload: async () => undefined,
    grantPut: async () => "",
    removeUpload: async () => {},
  };
  const blobs = { put: async () => {}, get: async () => undefined };
  const made = wired({ table, log: silentLog, blobs, uploads: door, hosts: () => site.host });
  const app: Wiring = {
    ...made,
    clock: () => later(START, nowMs),
    queues: {
      ...made.queues,
      commit: async (loaded, folded, now) => {
        const done = await made.queues.commit(loaded, folded, now);
        if (done === "CONFLICT") return done;
        site.sees(folded.decision);
        watch(folded.decision, nowMs);
        wakeAt = folded.decision.wakeAt === undefined ? undefined : folded.decision.wakeAt - START;
        return done;
      },
    },
  };
  const settles = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await advance(app, key);
      const effects = await app.queues.waitingEffects(key, app.clock());
      if (effects.length === 0 && !(await app.queues.hasInbox(key))) return;
      for (const effect of effects) await perform(app, key, effect);
    }
    throw new Error("the queue does not come to rest");
  };
  const concurrency = Math.min(1000, world.workers);
  const settings = { mode: "PARALLEL" as const, concurrency, ...patch };
  await createQueue(app, { key, repo: key.repo, patch: settings, state: undefined, by: "test" }, NOTHING);
  await settles();
  for (let arriving = 0; ; ) {
    const arrivesAt = world.arrivesAt[arriving] ?? Infinity;
    const endsAt = site.runners.nextEnd() ?? Infinity;
    const next = Math.min(arrivesAt, endsAt, wakeAt ?? Infinity);
    if (next === Infinity) return;
    nowMs = Math.max(nowMs, next);
    site.goTo(nowMs);
    if (endsAt === next) {
      const run = site.ends();
      if (run !== undefined) await reportRun(app, site.host, key, run);
    } else if (arrivesAt === next) {
      const prNumber = (arriving += 1);
      await setTargets(app, { key, prNumber, sha: headOf(prNumber), targets: targetsOf(world, prNumber - 1) }, NOTHING);
      await submit(app, { key, prNumber, by: "test" }, NOTHING);
    }
    await settles();
  }
}
