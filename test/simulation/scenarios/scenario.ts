/** A story as data: who is there, what happens in which order, and how it must end, whatever goes wrong meanwhile. */
import type { EntryState } from "../../../shared/queue/engine/types.ts";
import type { Config } from "../host/target.ts";
import type { Fault } from "../machine/faults.ts";

/** What a pull request is. All of them touch the area `app` unless it says otherwise. */
export type Cast = {
  readonly isBad?: boolean;
  /** Its check fails so many times by chance before it tells the truth. */
  readonly flakes?: number;
  readonly areas?: readonly string[];
  /** Each is good, and together they fail. */
  readonly clashesWith?: number;
  readonly conflictsWith?: number;
  /** That one is bad, and good together with this one. */
  readonly mends?: number;
  readonly isUnbuildable?: boolean;
  readonly isDraft?: boolean;
};

/** What the next act waits for. */
export type When = { readonly pr: number; readonly is: EntryState } | { readonly minutes: number };

export type Act = { readonly when?: When } & (
  | { readonly submit: number; readonly priority?: string | number; readonly noBatch?: boolean }
  | { readonly cancel: number }
  | { readonly restart: number }
  | { readonly targets: number; readonly are: "ALL" | readonly string[] }
  | { readonly update: Readonly<Record<string, unknown>> }
  /** On the host. */
  | { readonly push: number }
  | { readonly close: number }
  | { readonly makeReady: number }
  | { readonly retarget: number; readonly to: string }
  | { readonly mergeByHand: number }
  | { readonly pushTarget: Partial<Config> }
  | { readonly target: "DELETED" | "RESTORED" }
);

export type Scenario = {
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly prs: Readonly<Record<number, Cast>>;
  readonly acts: readonly Act[];
  /** How the latest submission of each ends; `OPEN` for one that waits for somebody. */
  readonly ends: Readonly<Record<number, EntryState | "OPEN">>;
  /** Changes on the target at the end beside those of who is MERGED. */
  readonly also?: readonly string[];
  /** Tests take so long, in the median. */
  readonly medianMinutes?: number;
  /** Something in it happens by time alone. */
  readonly needsTime?: true;
  /** Faults that may rightly change the end. */
  readonly except?: readonly Fault[];
};

/** In place of a class of faults: nothing goes wrong, and nobody ever looks whether something did. */
export const NO_SWEEP = "no sweep";
