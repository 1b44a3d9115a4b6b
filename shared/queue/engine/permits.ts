import { type EpochMs, earliest, toRfc3339 } from "../../kernel/time.ts";
import { isAdmitted, isUrgent } from "./order.ts";
import type { Entry, QueueState, QueueStateName } from "./types.ts";

/** One brake on the queue: the operator, a window, a hold of the service, or a change of modes. */
export type Brake = {
  readonly state: Exclude<QueueStateName, "RUNNING">;
  readonly reason: string;
  readonly since: EpochMs;
  /** Urgent entries pass it as if it were not there. */
  readonly urgentPasses: boolean;
};

export type Permits = {
  /** The strictest of all brakes, or RUNNING. */
  readonly state: QueueStateName;
  readonly reason: string | null;
  readonly since: EpochMs;
  readonly brakes: readonly Brake[];
  readonly admits: (entry: Entry) => boolean;
  readonly starts: (entry: Entry) => boolean;
  readonly lands: (entry: Entry) => boolean;
  /** False while nobody but urgent entries could be admitted: waits stand still. */
  readonly isOpen: boolean;
  /** When a window opens or closes next. */
  readonly changesAt: EpochMs | undefined;
};

const STRICTNESS = ["PAUSED", "DRAINING", "SWITCHING_MODES"] as const;

type Permitting = Pick<QueueState, "config" | "mode" | "holds" | "entries">;

/**
 * What the queue may do now: the strictest of the operator's state, the open windows and the service's holds.
 * PAUSED starts and lands nothing; DRAINING and SWITCHING_MODES admit nobody.
 */
export function permitsOf(state: Permitting, now: EpochMs): Permits {
  const brakes = brakesOf(state, now);
  const strictest = STRICTNESS.map((name) => brakes.find((brake) => brake.state === name)).find(Boolean);
  const stoppedBy = (entry: Entry, states: readonly QueueStateName[]): boolean =>
    brakes.some((brake) => states.includes(brake.state) && !(brake.urgentPasses && isUrgent(entry)));
  return {
    state: strictest?.state ?? "RUNNING",
    reason: strictest?.reason ?? state.config.operator.reason,
    since: strictest?.since ?? state.config.operator.since,
    brakes,
    admits: (entry) => !stoppedBy(entry, STRICTNESS),
    starts: (entry) => !stoppedBy(entry, ["PAUSED"]),
    lands: (entry) => !stoppedBy(entry, ["PAUSED"]),
    isOpen: strictest === undefined,
    changesAt: earliest(
      ...state.config.windows.flatMap((window) => [window.startsAt, window.endsAt]).filter((at) => at > now),
    ),
  };
}

/** The mode in force: a change of modes is immediate while nobody is admitted, and waits for them otherwise. */
export function modeInForce(state: Pick<QueueState, "config" | "mode" | "entries">): QueueState["mode"] {
  const wanted = state.config.settings.mode;
  if (wanted === state.mode) return wanted;
  for (const entry of state.entries.values()) if (isAdmitted(entry)) return state.mode;
  return wanted;
}

function brakesOf(state: Permitting, now: EpochMs): readonly Brake[] {
  const { operator, windows, settings } = state.config;
  const found: Brake[] = [];
  for (const hold of state.holds)
    found.push({ state: "PAUSED", reason: `${hold.kind}: ${hold.detail}`, since: hold.since, urgentPasses: false });
  if (operator.state !== "RUNNING") {
    const reason = operator.reason ?? `set by an operator at ${toRfc3339(operator.since)}`;
    found.push({ state: operator.state, reason, since: operator.since, urgentPasses: operator.allowUrgent });
  }
  for (const window of windows) {
    if (window.startsAt > now || now >= window.endsAt) continue;
    const reason = `maintenance window until ${toRfc3339(window.endsAt)}${window.reason === null ? "" : `: ${window.reason}`}`;
    const brake = window.action === "PAUSE" ? "PAUSED" : "DRAINING";
    found.push({ state: brake, reason, since: window.startsAt, urgentPasses: window.allowUrgent });
  }
  if (modeInForce(state) !== settings.mode) {
    const reason = `switching to ${settings.mode} mode when the admitted pull requests have ended`;
    found.push({ state: "SWITCHING_MODES", reason, since: operator.since, urgentPasses: false });
  }
  return found;
}
