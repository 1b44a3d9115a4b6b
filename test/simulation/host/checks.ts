/** Checks of one content on the host: each begins, takes its time, and ends with what the truth or a flake says. */
import type { CheckState, StatusCheck } from "../../../shared/queue/engine/types.ts";
import type { Content } from "./content.ts";

export type Check = { readonly endsAt: number; readonly outcome: CheckState };

/** What every content defines; a status that is required and not defined is reported as failed. */
export const CONTEXTS = ["unit", "lint"] as const;

/** A test run of the service, or what is tested of a pull request's head by itself. */
export class HostRun {
  readonly name: string;
  readonly content: Content;
  readonly required: readonly string[];
  readonly checks = new Map<string, Check>();
  /** Tells whoever wants to know that a check has ended. */
  readonly ended: () => void;
  repeats = 0;
  broken: string | null = null;
  isClosed = false;
  /** Results become visible so much later than they are known. */
  lagMs = 0;

  constructor(name: string, content: Content, required: readonly string[], ended: () => void) {
    this.name = name;
    this.content = content;
    this.required = required;
    this.ended = ended;
  }

  stateAt(context: string, now: number): CheckState {
    const check = this.checks.get(context);
    if (check === undefined) return this.required.includes(context) ? "FAILURE" : "PENDING";
    return check.endsAt + this.lagMs <= now ? check.outcome : "PENDING";
  }

  statusesAt(now: number): readonly StatusCheck[] {
    const undefinedOnes = this.required.filter((context) => !this.checks.has(context));
    return [...this.checks.keys(), ...undefinedOnes].map((context) => ({
      context,
      state: this.stateAt(context, now),
      url: `https://ci.local/${this.name}/${context}`,
      description: null,
    }));
  }

  isCompleteAt(now: number): boolean {
    return [...this.checks.keys()].every((context) => this.stateAt(context, now) !== "PENDING");
  }

  /** By the host's own book: whether all of these have passed by now. */
  passed(required: readonly string[], now: number): boolean {
    return required.every((context) => this.stateAt(context, now) === "SUCCESS");
  }
}
