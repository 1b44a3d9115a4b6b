/** Checks of one run on the host: each begins, takes its time, and ends with what the truth or a flake says. */
import type { CommitSha, RunId } from "../../../shared/kernel/ids.ts";
import type { CheckState, StatusCheck } from "../../../shared/queue/engine/types.ts";
import type { Content } from "./content.ts";

export type Check = { readonly endsAt: number; readonly outcome: CheckState };

/** What the content defines; a status that is required and not defined is reported as failed. */
export const CONTEXTS = ["unit", "lint"] as const;

export class HostRun {
  readonly id: RunId;
  readonly content: Content;
  readonly base: CommitSha;
  readonly commit: CommitSha;
  readonly required: readonly string[];
  readonly checks = new Map<string, Check>();
  repeats = 0;
  broken: string | null = null;
  isClosed = false;
  /** Results become visible so much later than they are known. */
  lagMs = 0;

  constructor(of: { id: RunId; content: Content; base: CommitSha; commit: CommitSha; required: readonly string[] }) {
    this.id = of.id;
    this.content = of.content;
    this.base = of.base;
    this.commit = of.commit;
    this.required = of.required;
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
      url: `https://ci.local/${this.id}/${context}`,
      description: null,
    }));
  }

  isCompleteAt(now: number): boolean {
    return [...this.checks.keys()].every((context) => this.stateAt(context, now) !== "PENDING");
  }

  /** By the host's own book: what of these passed for good by now. */
  passed(required: readonly string[], now: number): boolean {
    return required.every((context) => this.stateAt(context, now) === "SUCCESS");
  }
}
