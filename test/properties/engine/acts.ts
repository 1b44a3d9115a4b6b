/** What people do to pull requests, to the target and to the queue's settings, at any moment. */
import { type EpochMs, epochMs, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Entry, QueueConfig, QueueEvent, QueueState, Settings } from "../../../shared/queue/engine/types.ts";
import { pick, someNames, targetsOf } from "./names.ts";
import type { World } from "./world.ts";

/** Where people act: on the code host, and on the queue by telling it something. */
type Stage = {
  readonly world: World;
  readonly mail: QueueEvent[];
  readonly state: QueueState;
  readonly now: EpochMs;
  readonly tell: (event: QueueEvent) => void;
};

/** Somebody does something to a pull request; the host may or may not tell. */
export function meddle({ world, mail }: Stage, number: number, b: number): void {
  const { facts } = world.pr(number);
  const act = b % 11;
  if (act === 0) world.push(number);
  else if (act === 1 && facts.state === "OPEN") world.change(number, { state: "CLOSED" });
  else if (act === 2 && facts.state === "CLOSED") world.change(number, { state: "OPEN" });
  else if (act === 3) world.change(number, { draft: !facts.draft });
  else if (act === 4) world.change(number, { baseBranch: facts.baseBranch === "main" ? "other" : "main" });
  else if (act === 5) world.change(number, { mergeability: "NOT_MERGEABLE" });
  else if (act === 6) world.change(number, { mergeability: "MERGEABLE" });
  else if (act === 7) world.toggleRefusal(number);
  else if (act === 8) world.rebase(number);
  else {
    const other = world.pr(1 + (b % 8)).facts.headSha;
    const kind = pick(["clashes", "textual", "mended"] as const, b >> 3) ?? "clashes";
    // What conflicts in text does so from the first: not after it was merged once.
    const isTooLate = kind === "textual" && world.impacts.has(other) && world.impacts.has(facts.headSha);
    if (other !== facts.headSha && !isTooLate) world[kind].add(`${other}|${facts.headSha}`);
  }
  if (b % 4 !== 0) mail.push({ type: "news", prNumbers: [number], tip: null });
}

export function moveTarget({ world, mail }: Stage, number: number, b: number): void {
  const act = b % 8;
  if (act <= 1) world.pushToTarget();
  else if (act === 2) world.mergeByHand(number);
  else if (act === 3 && world.target !== null)
    world.target = world.target.slice(0, Math.max(1, world.target.length - 1));
  else if (act === 4) world.target = null;
  else if (act === 5)
    world.landings = pick(["WHOLE", "WHOLE", "FIRST_ONLY", "ON_MOVED_TIP"] as const, b >> 3) ?? "WHOLE";
  else if (act === 6) world.pathsAreMapped = !world.pathsAreMapped;
  else world.target ??= ["base"];
  const sha = b % 5 === 0 || world.target === null ? null : world.tip().sha;
  if (b % 3 !== 0) mail.push({ type: "news", prNumbers: [], tip: { sha } });
}

export function configure(stage: Stage, a: number, b: number): void {
  const { config } = stage.state;
  const settings: Partial<Settings>[] = [
    { concurrency: 1 + (a % 4) },
    { bisectionConcurrency: 1 + (a % 4) },
    { retriesBeforeFailure: a % 4 },
    { requiredStatuses: pick([null, ["unit"], ["unit", "lint"], ["lint"], ["unit", "nothing"]], a) ?? null },
    { testingTimeoutMinutes: pick([0, 30, 300], a) ?? 0 },
    { mode: pick(["SINGLE", "PARALLEL"] as const, a) ?? "SINGLE" },
    { batch: a % 2 === 0 },
    { batchingMinSize: 1 + (a % 6) },
    { batchingMaxWaitTimeMinutes: pick([0, 5], a) ?? 0 },
    { canOptimisticallyMerge: a % 2 === 0 },
    { pendingFailureDepth: a % 4 },
    { optimizationMode: pick(["OFF", "BISECTION_SKIP_REDUNDANT_TESTS"] as const, a) ?? "OFF" },
    { directMergeMode: pick(["OFF", "ALWAYS"] as const, a) ?? "OFF" },
  ];
  const window = {
    id: "w",
    action: pick(["DRAIN", "PAUSE"] as const, a) ?? "DRAIN",
    startsAt: epochMs(stage.now + (a % 10) * MINUTE_MS),
    endsAt: epochMs(stage.now + (10 + (a % 20)) * MINUTE_MS),
    reason: null,
    allowUrgent: a % 2 === 0,
  };
  const operator = {
    state: pick(["RUNNING", "RUNNING", "PAUSED", "DRAINING"] as const, a) ?? "RUNNING",
    reason: null,
    since: stage.now,
    allowUrgent: a % 3 === 0,
  };
  const changes: readonly Partial<QueueConfig>[] = [
    ...settings.map((one) => ({ settings: { ...config.settings, ...one } })),
    { windows: [window] },
    { windows: [] },
    { operator },
    { holdsClearedAt: stage.now },
  ];
  stage.tell({ type: "configured", config: { ...config, ...pick(changes, b) } });
}

/** Somebody asks something of a live entry; new targets most of all. */
export function wish(stage: Stage, entry: Entry, b: number): void {
  const by = { by: "bob", at: stage.now };
  const priority = { value: b % 3 === 0 ? 0 : b % 255, byDefault: false };
  const names = b % 2 === 0 ? someNames(b >> 4) : stage.world.impactOf(String(entry.headSha));
  const targets = targetsOf(names);
  const wishes = [{ targets }, { targets }, { targets }, { targets }, { cancel: by }, { restart: by }, { priority }];
  const asked = pick([...wishes, { noBatch: b % 2 === 0 }], b >> 1);
  if (asked !== undefined) stage.tell({ type: "asked", entry: entry.id, asked });
}
