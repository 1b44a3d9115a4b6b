/** The target branch: what it holds, who moved it, and what its config file says. */
import type { LandRequest } from "../../../shared/code-host/port.ts";
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Tip } from "../../../shared/queue/engine/types.ts";
import { type Commits, type Content, startsWith, treeOf } from "./content.ts";

/** The target was moved: by a landing that the service asked for, or by somebody's own hand. */
export type Movement = {
  readonly at: EpochMs;
  readonly before: Content;
  readonly after: Content;
  readonly landing: LandRequest | null;
};

/** The config file: what it requires (null: nothing is said of it), and whether it maps paths to targets. */
export type Config = { readonly required: readonly string[] | null; readonly mapsPaths: boolean };

const FIRST = "push:0";
const DEFAULT: Config = { required: ["unit"], mapsPaths: false };

export class Target {
  /** Null while somebody has deleted it. */
  content: Content | null = [FIRST];
  readonly movements: Movement[] = [];
  private readonly commits: Commits;
  private readonly clock: () => EpochMs;
  /** Told of each movement in the moment in which it is made. */
  private readonly moved: (movement: Movement) => void;
  /** A change to the config file comes with a push. */
  private readonly configs = new Map<string, Config>([[FIRST, DEFAULT]]);
  private pushes = 0;

  constructor(commits: Commits, clock: () => EpochMs, moved: (movement: Movement) => void) {
    this.commits = commits;
    this.clock = clock;
    this.moved = moved;
    this.commits.keep([FIRST]);
  }

  get sha(): CommitSha | null {
    return this.content === null ? null : this.commits.keep(this.content);
  }

  configAt(content: Content): Config {
    return this.configs.get(content.findLast((one) => this.configs.has(one)) ?? "") ?? DEFAULT;
  }

  tipAt(content: Content): Tip {
    const { required, mapsPaths } = this.configAt(content);
    return {
      sha: this.commits.keep(content),
      tree: treeOf(content),
      required: required === null ? null : { source: "CONFIG_FILE", statuses: required },
      configProblem: null,
      ...(mapsPaths ? { targetsFromPaths: true } : {}),
    };
  }

  move(after: Content, landing: LandRequest | null): void {
    const movement = { at: this.clock(), before: this.content ?? [], after, landing };
    this.content = after;
    this.commits.keep(after);
    this.movements.push(movement);
    this.moved(movement);
  }

  /** Somebody pushes a change of his own, and with it perhaps another config file. */
  push(config: Partial<Config> = {}): void {
    if (this.content === null) return;
    const change = `push:${(this.pushes += 1)}`;
    if (Object.keys(config).length > 0) this.configs.set(change, { ...this.configAt(this.content), ...config });
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

  restore(): void {
    this.move([FIRST], null);
  }

  isWithin(commit: Content): boolean {
    return this.content !== null && startsWith(this.content, commit);
  }
}
