/**
 * Nothing bad happens any more: whatever was lost is told once again, and then nobody wakes the queue but its own
 * alarms. Every admitted entry must end.
 */
import { isDeepStrictEqual } from "node:util";
import { commitSha } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { missingOf } from "../../../shared/queue/engine/readiness.ts";
import { isInProgress } from "../../../shared/queue/engine/run-index.ts";
import { shaOf } from "./names.ts";
import type { Player } from "./player.ts";
import { CHECKS } from "./world.ts";

const ROUNDS_MAX = 600;

export function settle(player: Player): void {
  const { config } = player.state;
  const operator = { state: "RUNNING", reason: null, since: player.now, allowUrgent: false } as const;
  player.world.target ??= ["base"];
  player.world.landings = "WHOLE";
  // Windows stay: they end by themselves.
  player.tell({ type: "configured", config: { ...config, operator, holdsClearedAt: player.now } });
  sweep(player);
  for (let round = 0; round < ROUNDS_MAX && isUnsettled(player); round += 1) if (!settleOnce(player)) break;
  if (!isUnsettled(player)) return;
  const left = [...player.state.entries.values()].map((one) => `#${one.prNumber} ${one.state}`).join(", ");
  const runs = [...player.state.runs.values()].map((one) => `${one.id} ${one.phase}`).join(", ");
  player.report(`does not settle: ${left}; runs ${runs}`);
}

const isUnsettled = ({ state }: Player): boolean =>
  [...state.entries.values()].some((entry) => entry.state !== "NOT_READY" || missingOf(state, entry).length === 0);

function settleOnce(player: Player): boolean {
  const { world } = player;
  performAll(player);
  for (const event of player.mail.splice(0)) player.tell(event);
  for (const run of player.state.runs.values()) {
    const host = world.runs.get(run.id);
    if (host === undefined || !isInProgress(run)) continue;
    for (const context of CHECKS)
      if (!host.statuses.has(context)) host.statuses.set(context, world.truth(host.content, context));
    const event = world.statuses(run.id, player.now);
    if (event?.type !== "statuses") continue;
    // What the queue knows already, and does not look at while its landing is under way, is not told for ever.
    const known = { statuses: run.statuses, complete: run.complete, repeats: run.repeats };
    const { statuses, complete, repeats } = event;
    if (!isDeepStrictEqual(known, { statuses, complete, repeats })) player.mail.push(event);
  }
  if (player.outbox.length + player.mail.length > 0) return true;
  if (player.state.holds.length > 0) clearHolds(player);
  else if (player.wakeAt === undefined) return false;
  else {
    player.now = epochMs(Math.max(player.now, player.wakeAt));
    player.tell({ type: "wake" });
  }
  return true;
}

export function performAll(player: Player): void {
  for (const effect of player.outbox.splice(0)) {
    const answer = player.world.perform(effect, player.state, player.now);
    if (answer !== undefined) player.mail.push(answer);
  }
}

function clearHolds(player: Player): void {
  player.now = epochMs(player.now + 1);
  player.tell({ type: "configured", config: { ...player.state.config, holdsClearedAt: player.now } });
}

function sweep(player: Player): void {
  const prNumbers = [...player.state.entries.values()].map((entry) => entry.prNumber);
  const sha = player.world.target === null ? null : commitSha(shaOf(player.world.target));
  player.tell({ type: "news", prNumbers, tip: { sha } });
}
