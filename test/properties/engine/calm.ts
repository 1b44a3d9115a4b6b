/**
 * A world in which nothing goes wrong but tests: no outages, nobody meddles, and a check fails by chance at most the
 * first time. Then whoever is at fault fails and nobody else does, and nothing is tested twice.
 */
import { type EntryId, entryId, type RunId } from "../../../shared/kernel/ids.ts";
import { epochMs, MINUTE_MS } from "../../../shared/kernel/time.ts";
import type { Decision, QueueState, Run, Settings } from "../../../shared/queue/engine/types.ts";
import { aSubmission } from "../../support/queue.ts";
import { isOfOtherLane, type Look } from "./judges.ts";
import { type Content, type Names, pick, someNames, targetsOf } from "./names.ts";
import { Player } from "./player.ts";
import { CHECKS, type World } from "./world.ts";

/** Of each pull request: what it impacts, what it claims to, and whether its own tests fail. */
export type Change = {
  readonly impact: number;
  readonly claimsAll: boolean;
  readonly isBad: boolean;
  readonly noBatch: boolean;
  readonly priority: number;
};

/** Which two of them, by position, fail together, or of which the later mends the earlier. */
export type Pair = readonly [number, number];

export type Scene = {
  readonly changes: readonly Change[];
  readonly clashes: readonly Pair[];
  readonly mends: readonly Pair[];
  /** Runs, by number, whose first attempt fails by chance. */
  readonly flakes: readonly number[];
};

export class Calm {
  readonly player: Player;
  private readonly scene: Scene;
  private readonly contents = new Map<RunId, Content>();
  private readonly tested = new Map<EntryId, number>();
  private submitted = 0;

  constructor(settings: Partial<Settings>, scene: Scene) {
    // Nothing takes too long: whoever fails, fails by what it is.
    this.player = new Player({ ...settings, testingTimeoutMinutes: 0 }, (look) => this.judge(look));
    this.scene = scene;
    const head = (at: number): string => `${at + 1}@1`;
    for (const [at, { impact, isBad }] of scene.changes.entries()) {
      this.player.world.impacts.set(head(at), someNames(impact));
      if (isBad) this.player.world.bad.add(head(at));
    }
    const { world } = this.player;
    for (const [a, b] of scene.clashes) if (a !== b) world.clashes.add(`${head(a)}|${head(b)}`);
    for (const [a, b] of scene.mends) if (a !== b) world.mended.add(`${head(a)}|${head(b)}`);
  }

  act(kind: number, a: number): void {
    const { player } = this;
    if (kind <= 1) this.submit();
    else if (kind <= 4) player.perform(a, 1);
    else if (kind <= 7) player.deliver(a, 1);
    else if (kind <= 9) this.check(a);
    else {
      player.now = epochMs(player.now + (a % 20) * MINUTE_MS);
      player.tell({ type: "wake" });
    }
  }

  private submit(): void {
    const { player } = this;
    const change = this.scene.changes[this.submitted];
    if (change === undefined) return;
    this.submitted += 1;
    const number = this.submitted;
    const pr = player.world.factsOf(number);
    const names: Names = change.claimsAll ? "ALL" : player.world.impactOf(pr.headSha);
    const priority = { value: change.priority, byDefault: false };
    const { noBatch } = change;
    const known = { id: entryId(`e${number}`), pr, targets: targetsOf(names), noBatch, priority };
    player.tell({ type: "submitted", entry: aSubmission(number, player.now, known) });
  }

  submitRest(): void {
    while (this.submitted < this.scene.changes.length) this.submit();
  }

  /** In how many tests the one was that was in most. */
  mostRuns(): number {
    return Math.max(0, ...this.tested.values());
  }

  private check(a: number): void {
    const { world, state, mail } = this.player;
    const run = pick(
      [...state.runs.values()].filter((one) => world.runs.has(one.id)),
      a,
    );
    const host = run === undefined ? undefined : world.runs.get(run.id);
    if (run === undefined || host === undefined) return;
    const isFlaky = host.repeats === 0 && this.scene.flakes.some((number) => run.id.endsWith(`-${number}`));
    for (const context of CHECKS)
      if (!host.statuses.has(context))
        host.statuses.set(context, isFlaky ? "FAILURE" : world.truth(host.content, context));
    const event = world.statuses(run.id, this.player.now);
    if (event !== undefined) mail.push(event);
  }

  private judge(look: Look): readonly string[] {
    return [...this.failsTheGuilty(look), ...this.keepsTheTargetGreen(look), ...this.runsNothingTwice(look)];
  }

  /** Whoever fails does so on top of what is there, or was tested on one that is good only with another. */
  private failsTheGuilty({ decision, world }: Look): readonly string[] {
    const { tip } = decision.state;
    const there = (tip === null ? undefined : world.commits.get(tip.sha)) ?? [];
    return decision.endedEntries.flatMap(({ id, state, prNumber, headSha }) => {
      if (state === "MERGED") return [];
      const isGuilty = world.truth([...there, String(headSha)], "unit") === "FAILURE";
      const failed = decision.endedRuns.find(({ run }) => run.failure !== null && run.group.includes(id));
      const isExcused = isGuilty || (failed !== undefined && lacksTheMender(world, failed.run.id, there));
      return isExcused && state === "FAILED" ? [] : [`#${prNumber} is good and ended ${state}`];
    });
  }

  private keepsTheTargetGreen({ world }: Look): readonly string[] {
    return world.truth(world.target ?? [], "unit") === "SUCCESS" ? [] : ["the target fails its tests"];
  }

  /** No content is built that was tested before, but the last part of a batch that is taken apart. */
  private runsNothingTwice({ decision, history, world }: Look): readonly string[] {
    // Whoever gave way to one that is needed more has no verdict.
    for (const { run, why } of decision.endedRuns) if (why.startsWith("gave up its slot")) this.contents.delete(run.id);
    return decision.effects.flatMap((effect) => {
      const run = effect.type === "build-run" ? decision.state.runs.get(effect.run) : undefined;
      if (effect.type !== "build-run" || run === undefined || run.kind === "TIP") return [];
      const content = [...(world.commits.get(effect.base) ?? []), ...effect.changes.map((one) => one.headSha)];
      const twin = [...this.contents].find(([, other]) => isSame(decision.state, history, content, other));
      this.contents.set(effect.run, content);
      for (const id of run.group) this.tested.set(id, (this.tested.get(id) ?? 0) + 1);
      return twin === undefined || mayBeTwice(decision, run) || hasEndedInDoubt(history, twin[1])
        ? []
        : [`${effect.run} tests what ${twin[0]} has tested`];
    });
  }
}

/**
 * It was tested on one that fails alone, without the other that mends it, which it does not overlap itself: no promise
 * is made to whom depends on a change that needs another and is not branched off it.
 */
function lacksTheMender({ mended, runs }: World, failed: RunId, there: Content): boolean {
  const content = runs.get(failed)?.content ?? [];
  return [...mended].some((pair) => {
    const [one = "", mender = ""] = pair.split("|");
    return content.includes(one) && !content.includes(mender) && there.includes(mender);
  });
}

const mayBeTwice = ({ state }: Decision, run: Run): boolean =>
  run.kind === "BISECTION" && state.config.settings.optimizationMode === "OFF";

/** It held one that landed although it had failed, maybe without the successor that proved it: then its failure proves nothing. */
const hasEndedInDoubt = ({ movements }: Look["history"], content: Content): boolean =>
  movements.some(({ landed, failed }) => landed?.some(({ id, head }) => failed.includes(id) && content.includes(head)));

/** The same, or different only by what landed and shares no target with what has not. */
function isSame(state: QueueState, history: Look["history"], a: Content, b: Content): boolean {
  const unlanded = a.filter((one) => !history.landed.has(one) && one !== "base");
  const live = unlanded.flatMap((head) => [...state.entries.values()].filter((entry) => entry.headSha === head));
  const different = [...a.filter((one) => !b.includes(one)), ...b.filter((one) => !a.includes(one))];
  return different.every((one) => live.every((entry) => isOfOtherLane(state, history, entry, one)));
}
