/** What must hold of every single step, found from what the world holds and not from what the engine says of itself. */
import type { CommitSha, EntryId } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Decision, Effect, Entry, QueueEvent, QueueState } from "../../../shared/queue/engine/types.ts";
import type { History } from "./history.ts";
import { type Content, namesOf, shaOf, shareOne } from "./names.ts";
import { isStopped } from "./oracle-plan.ts";
import type { World } from "./world.ts";

/** One step, and all that is known beside it. */
export type Look = {
  readonly before: QueueState;
  readonly event: QueueEvent;
  readonly decision: Decision;
  readonly now: EpochMs;
  readonly world: World;
  readonly history: History;
};

export const judgeStep = (look: Look): readonly string[] => [
  ...look.decision.effects.flatMap((effect) => (effect.type === "land" ? landsWhatWasTested(look, effect) : [])),
  ...startsNothingWhilePaused(look),
  ...keepsSlots(look),
  ...failsOnlyForItself(look),
];

/** The queue's own list, or what the tip names. */
export function requiredOf({ config, tip }: QueueState): readonly string[] {
  const own = config.settings.requiredStatuses ?? [];
  return own.length > 0 ? own : (tip?.required?.statuses ?? []);
}

const contentOf = (world: World, sha: CommitSha | undefined): Content =>
  (sha === undefined ? undefined : world.commits.get(sha)) ?? [];

type Land = Extract<Effect, { type: "land" }>;

function landsWhatWasTested({ decision: { state }, world, history }: Look, land: Land): readonly string[] {
  // One that is sent again may have happened: it is finished, whatever has become of its evidence.
  if (state.landing?.attempt !== 1) return [];
  const tip = contentOf(world, land.expectedTip);
  const heads = land.changes.map((change) => change.headSha);
  const after = [...tip, ...heads];
  const required = requiredOf(state);
  const found = required.length === 0 ? [`${land.key}: nothing is required`] : [];
  if (land.run === null) return [...found, ...landsGreenHead(world, land, tip, required)];
  const run = world.runs.get(land.run);
  const content = run?.content ?? [];
  if (shaOf(content) !== land.commit) found.push(`${land.key}: not the tested content`);
  if (!required.every((context) => run?.statuses.get(context) === "SUCCESS"))
    found.push(`${land.key}: the host does not show it as passed`);
  if (state.mode === "SINGLE" && content.join() !== after.join())
    found.push(`${land.key}: its content does not follow from the tip`);
  if (state.mode === "PARALLEL") found.push(...differsByOtherLanes(state, history, land, content, after));
  return found;
}

/** What it lacks of the target was landed by the queue and shares no target with what lands now; it holds nothing more. */
function differsByOtherLanes(
  { entries }: QueueState,
  history: History,
  land: Land,
  content: Content,
  after: Content,
): readonly string[] {
  const found = content.filter((one) => !after.includes(one)).map((one) => `${land.key}: it holds ${one} as well`);
  const changes = land.changes.map(({ entry, headSha }) => ({
    headSha,
    names: namesOf(entries.get(entry)?.targets ?? null),
  }));
  for (const one of after.filter((other) => !content.includes(other))) {
    const landed = history.landed.get(one);
    if (landed === undefined) found.push(`${land.key}: it lacks ${one}, which somebody else put there`);
    else if (changes.some(({ names }) => shareOne(names, landed.names)))
      found.push(`${land.key}: it lacks ${one}, which landed and overlaps it`);
  }
  for (const [at, one] of changes.entries())
    for (const later of changes.slice(at + 1))
      if (shareOne(one.names, later.names) && content.indexOf(one.headSha) > content.indexOf(later.headSha))
        found.push(`${land.key}: ${later.headSha} was tested before ${one.headSha}`);
  return found;
}

function landsGreenHead(world: World, land: Land, tip: Content, required: readonly string[]): readonly string[] {
  const content = contentOf(world, land.commit);
  const own = world.own.get(land.commit);
  return [
    ...(land.changes.length === 1 && land.changes[0]?.headSha === land.commit ? [] : [`${land.key}: not one head`]),
    ...(tip.every((one) => content.includes(one)) ? [] : [`${land.key}: its head does not contain the tip`]),
    ...(required.every((context) => own?.get(context) === "SUCCESS") ? [] : [`${land.key}: its head is not green`]),
  ];
}

function startsNothingWhilePaused({ decision: { effects, state }, now }: Look): readonly string[] {
  const stopped = (ids: readonly EntryId[]): boolean =>
    ids.some((id) => {
      const entry = state.entries.get(id);
      return entry !== undefined && isStopped(state, now, entry);
    });
  return effects.flatMap((effect) => {
    if (effect.type === "land" && state.landing?.attempt === 1)
      return stopped(effect.changes.map((change) => change.entry)) ? [`${effect.key} while it is paused`] : [];
    if (effect.type !== "build-run" && effect.type !== "repeat-checks") return [];
    return stopped(state.runs.get(effect.run)?.group ?? []) ? [`${effect.key} while it is paused`] : [];
  });
}

/**
 * Whatever is started or repeated, no more is in progress then than there are slots of its kind; or, where their number
 * was lowered, than was in progress before, of which an urgent one may take the place of another.
 */
function keepsSlots({ before, decision: { effects, state } }: Look): readonly string[] {
  const { concurrency, bisectionConcurrency } = state.config.settings;
  const used = ({ runs }: QueueState, isBisection: boolean): number =>
    [...runs.values()].filter(
      (run) => ["BUILDING", "TESTING", "REPEATING"].includes(run.phase) && (run.kind === "BISECTION") === isBisection,
    ).length;
  return effects.flatMap((effect) => {
    if (effect.type !== "build-run" && effect.type !== "repeat-checks") return [];
    const isBisection = state.runs.get(effect.run)?.kind === "BISECTION";
    const most = isBisection ? bisectionConcurrency : concurrency;
    const now = used(state, isBisection);
    return now > Math.max(most, used(before, isBisection)) ? [`${effect.key}: ${now} runs in ${most} slots`] : [];
  });
}

/** Who fails by a test failed in one of exactly the target and itself, of which other lanes may be missing. */
function failsOnlyForItself({ before, decision, world, history }: Look): readonly string[] {
  return decision.moves.flatMap((move) => {
    if (move.to !== "FAILED" || (move.reason !== "TESTS_FAILED" && move.reason !== "TESTING_TIMEOUT")) return [];
    const entry = decision.endedEntries.find((one) => one.id === move.entry);
    const run = move.run === null ? undefined : world.runs.get(move.run);
    if (entry === undefined || run === undefined) return [`#${move.prNumber} failed without a run`];
    const tip = contentOf(world, decision.state.tip?.sha);
    const after = [...tip, String(entry.headSha)];
    const others = run.content.filter((one) => !after.includes(one));
    const missing = tip.filter((one) => !run.content.includes(one) && !isOfOtherLane(before, history, entry, one));
    return [
      ...others.map((one) => `#${move.prNumber} failed in ${move.run} with ${one}, which has not landed`),
      ...missing.map((one) => `#${move.prNumber} failed in ${move.run} without ${one}, which has landed`),
    ];
  });
}

export function isOfOtherLane(state: QueueState, history: History, entry: Entry, landed: string): boolean {
  const known = history.landed.get(landed);
  return state.mode === "PARALLEL" && known !== undefined && !shareOne(namesOf(entry.targets), known.names);
}
