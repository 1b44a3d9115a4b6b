/** What happened, in lines; and which promises were broken. */
import { createHash } from "node:crypto";
import type { EpochMs } from "../../../shared/kernel/time.ts";

const KEPT_LINES = 50;

export class Book {
  readonly problems: string[] = [];
  /** The last lines, up to the first problem. */
  readonly lines: string[] = [];
  readonly counts = new Map<string, number>();
  private readonly digest = createHash("sha256");
  readonly now: () => EpochMs;
  private readonly start: EpochMs;
  private readonly echo: ((line: string) => void) | undefined;
  private readonly stop: () => void;

  constructor(clock: () => EpochMs, stop: () => void, echo?: (line: string) => void) {
    this.now = clock;
    this.start = clock();
    this.stop = stop;
    this.echo = echo;
  }

  say(text: string): void {
    const line = `${timeText(this.now() - this.start)}  ${text}`;
    this.digest.update(`${line}\n`);
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    this.echo?.(line);
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  problem(text: string): void {
    if (this.problems.includes(text)) return;
    this.say(`BROKEN: ${text}`);
    this.problems.push(text);
    // What comes after it would only be what came of it.
    this.stop();
  }

  /** Equal for two runs in which the same was decided at the same times. */
  fingerprint(): string {
    return this.digest.copy().digest("hex").slice(0, 16);
  }
}

/** Hours, minutes, seconds and milliseconds since the beginning. */
function timeText(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const seconds = ms / 1_000;
  return `${two(seconds / 3_600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${String(Math.floor(ms % 1_000)).padStart(3, "0")}`;
}
