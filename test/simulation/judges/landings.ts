/**
 * Whether each movement of the target that the service made was proved. Told by the host's own book of what was tested
 * and how it ended, and by nothing that the engine believes.
 */
import type { HostRun } from "../host/checks.ts";
import { changesOf, type Content, startsWith } from "../host/content.ts";
import type { Movement } from "../host/target.ts";
import type { HostWorld } from "../host/world.ts";
import type { Book } from "./book.ts";
import type { Commit } from "./commits.ts";

/** What was in force when a landing was decided. */
type Rules = {
  readonly required: readonly string[];
  readonly isParallel: boolean;
  readonly isDirect: boolean;
};

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && startsWith(a, b);

export class LandingJudge {
  private readonly book: Book;
  private readonly host: HostWorld;
  private readonly rules = new Map<string, Rules>();

  constructor(book: Book, host: HostWorld) {
    this.book = book;
    this.host = host;
  }

  /** Remembers under which rules a landing was begun: a retry goes by the same ones. */
  decided({ folded }: Commit): void {
    const { config, landing, mode } = folded.decision.state;
    for (const effect of folded.decision.effects) {
      if (effect.type !== "land" || (landing?.id === effect.landing && landing.attempt > 1)) continue;
      const { requiredStatuses, directMergeMode } = config.settings;
      const tip = this.host.commits.find(effect.expectedTip) ?? [];
      this.rules.set(effect.run ?? effect.commit, {
        required: requiredStatuses ?? this.host.target.configAt(tip).required ?? [],
        isParallel: mode === "PARALLEL",
        isDirect: directMergeMode === "ALWAYS",
      });
    }
  }

  moved({ before, after, landing }: Movement): void {
    if (landing === null) return;
    this.book.count("landings");
    const numbers = landing.changes.map((change) => `#${change.prNumber}`).join(" ");
    const wrong = (what: string): void => this.book.problem(`${numbers} landed (${landing.run}): ${what}`);
    const [had, has] = [changesOf(before), changesOf(after)];
    const asked = landing.changes.map((change) => this.host.byHead(change.headSha)?.change ?? "?");
    if (!isSame(has, [...had, ...asked])) wrong(`the target went from ${had.join()} to ${has.join()}`);
    const again = asked.filter((change) => had.includes(change));
    if (again.length > 0) wrong(`${again.join()} was on the target before`);
    const rules = this.rules.get(landing.run ?? landing.commit);
    if (rules === undefined) return wrong("nobody decided it");
    if (rules.required.length === 0) return wrong("nothing was required");
    const isProved = landing.run === null ? this.isProvedByItself(has, asked, rules) : this.isProved(has, asked, rules);
    if (!isProved) wrong(`nothing proves ${has.join()} by ${rules.required.join()}`);
    if (landing.run === null) this.book.count("direct merges");
    if (rules.required.includes("unit")) this.staysGood(before, after, wrong);
  }

  /** Tests fail by chance and never pass by chance: a target that was good is good afterwards. */
  private staysGood(before: Content, after: Content, wrong: (what: string) => void): void {
    const { truth } = this.host;
    if (truth.isGood(before) && !truth.isGood(after)) wrong("the target was good, and is broken now");
  }

  /** The pull request's own checks, on exactly what is there now. */
  private isProvedByItself(content: readonly string[], asked: readonly string[], rules: Rules): boolean {
    const head = [...this.host.heads()].find((one) => one.change === asked[0]);
    if (head === undefined || asked.length !== 1 || !rules.isDirect) return false;
    return isSame(changesOf(head.own.content), content) && head.own.passed(rules.required, this.book.now());
  }

  /**
   * A run of exactly this content; in lanes, of content that lacks only what landed beside it and touches nothing that
   * these touch. Who is cleared by a pull request behind lands with it, as that was tested.
   */
  private isProved(content: readonly string[], asked: readonly string[], rules: Rules): boolean {
    const { truth, runs } = this.host;
    const proves = (run: HostRun): boolean => {
      const tested = changesOf(run.content);
      if (!run.passed(rules.required, this.book.now())) return false;
      if (isSame(tested, content)) return true;
      if (!rules.isParallel || !isSame(tested.slice(-asked.length), asked)) return false;
      const beside = content.filter((change) => !tested.includes(change));
      const isWithin = tested.every((change) => content.includes(change));
      return isWithin && beside.every((other) => !asked.some((change) => truth.overlap(change, other)));
    };
    return [...runs.values()].some(proves);
  }
}
