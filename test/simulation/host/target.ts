/** The target branch: what it holds, who moved it, and what may be put onto it. */
import type { LandRequest } from "../../../shared/code-host/port.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { Tip } from "../../../shared/queue/engine/types.ts";
import { type Commits, type Content, startsWith, treeOf } from "./content.ts";

/** The target was moved: by a landing that the service asked for, or by somebody's own hand. */
export type Movement = {
  readonly at: EpochMs;
  readonly before: Content;
  readonly after: Content;
  readonly landing: LandRequest | null;
};

export class Target {
  content: Content | null = ["push:0"];
  readonly movements: Movement[] = [];
  private readonly commits: Commits;
  private readonly clock: () => EpochMs;
  /** Told of each movement in the moment in which it is made. */
  private readonly moved: (movement: Movement) => void;
  /** A change to the config file comes with a push. Null: the file names nothing. */
  private readonly config = new Map<string, readonly string[] | null>();
  private pushes = 0;

  constructor(commits: Commits, clock: () => EpochMs, moved: (movement: Movement) => void) {
    this.commits = commits;
    this.clock = clock;
    this.moved = moved;
    this.commits.keep(["push:0"]);
    this.config.set("push:0", ["unit"]);
  }

  get sha(): CommitSha | null {
    return this.content === null ? null : this.commits.keep(this.content);
  }

  requiredAt(content: Content): readonly string[] | null {
    const last = content.findLast((one) => this.config.has(one));
    return last === undefined ? null : (this.config.get(last) ?? null);
  }

  tipAt(content: Content): Tip {
    const statuses = this.requiredAt(content);
    return {
      sha: this.commits.keep(content),
      tree: treeOf(content),
      required: statuses === null ? null : { source: "CONFIG_FILE", statuses },
      configProblem: null,
    };
  }

  move(after: Content, landing: LandRequest | null): void {
    const movement = { at: this.clock(), before: this.content ?? [], after, landing };
    this.content = after;
    this.commits.keep(after);
    this.movements.push(movement);
    this.moved(movement);
  }

  /** Somebody pushes a change of his own, and with it perhaps another list of required statuses. */
  push(required?: readonly string[] | null): void {
    if (this.content === null) return;
    const change = `push:${(this.pushes += 1)}`;
    if (required !== undefined) this.config.set(change, required);
    this.move([...this.content, change], null);
  }

  forcePush(drop: number): void {
    if (this.content !== null) this.move(this.content.slice(0, Math.max(1, this.content.length - drop)), null);
  }

  /** Somebody deletes the branch. */
  remove(): void {
    this.content = null;
    this.moved({ at: this.clock(), before: [], after: [], landing: null });
  }

  isWithin(commit: Content): boolean {
    return this.content !== null && startsWith(this.content, commit);
  }
}
