/**
 * Whether each movement of the target that the service made was proved. Told by the host's own book of what was tested
 * and how it ended, and by nothing that the engine believes.
 */
import { changesOf, startsWith } from "../host/content.ts";
import type { SimulatedHost } from "../host/code-host.ts";
import type { HostRun } from "../host/checks.ts";
import type { Movement } from "../host/target.ts";
import type { Book } from "./book.ts";
import type { Commit } from "./commits.ts";

/** What was in force when a landing was decided. */
type Rules = { readonly required: readonly string[]; readonly isOptimistic: boolean; readonly isParallel: boolean };

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && startsWith(a, b);

export class LandingJudge {
  private readonly book: Book;
  private readonly host: SimulatedHost;
  private readonly rules = new Map<string, Rules>();

  constructor(book: Book, host: SimulatedHost) {
    this.book = book;
    this.host = host;
  }

  /** Remembers under which rules a landing was begun: a retry goes by the same ones. */
  decided({ folded }: Commit): void {
    const { config, landing } = folded.decision.state;
    for (const effect of folded.decision.effects) {
      if (effect.type !== "land" || (landing?.id === effect.landing && landing.attempt > 1)) continue;
      const { requiredStatuses, canOptimisticallyMerge, mode } = config.settings;
      const tip = this.host.commits.find(effect.expectedTip) ?? [];
      this.rules.set(effect.run ?? effect.commit, {
        required: requiredStatuses ?? this.host.target.requiredAt(tip) ?? [],
        isOptimistic: canOptimisticallyMerge,
        isParallel: mode === "PARALLEL",
      });
    }
  }

  moved({ before, after, landing }: Movement): void {
    if (landing === null) return;
    this.book.count("landings");
    const numbers = landing.changes.map((change) => `#${change.prNumber}`).join(" ");
    const wrong = (what: string): void => this.book.problem(`${numbers} landed (${landing.run}): ${what}`);
    const [had, has] = [changesOf(before), changesOf(after)];
    const asked = landing.changes.map((change) => this.host.prs.byHead(change.headSha)?.change ?? "?");
    if (!isSame(has, [...had, ...asked])) wrong(`the target went from ${had.join()} to ${has.join()}`);
    const again = asked.filter((change) => had.includes(change));
    if (again.length > 0) wrong(`${again.join()} was on the target before`);
    const rules = this.rules.get(landing.run ?? landing.commit);
    if (rules === undefined) wrong("nobody decided it");
    else if (rules.required.length === 0) wrong("nothing was required");
    else if (!this.isProved(has, rules)) wrong(`no run of ${has.join()} passed ${rules.required.join()}`);
  }

  private isProved(content: readonly string[], { required, isOptimistic }: Rules): boolean {
    const now = this.book.now();
    const proves = (run: HostRun): boolean => {
      const tested = changesOf(run.content);
      const holds = isOptimistic ? startsWith(tested, content) : isSame(tested, content);
      return holds && run.passed(required, now);
    };
    return [...this.host.runs.values()].some(proves);
  }
}
