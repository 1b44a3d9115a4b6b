/** Whether a paused queue stood still and a draining one admitted nobody, by what was stored when somebody said so. */
import type { Written } from "../machine/written.ts";
import { textOf } from "../machine/written.ts";
import type { Book } from "./book.ts";
import type { Commit } from "./commits.ts";

export class BrakeJudge {
  /** The operator's word that was stored last. */
  private state = "RUNNING";
  private letsUrgentPass = false;
  private readonly book: Book;

  constructor(book: Book) {
    this.book = book;
  }

  written({ puts }: Written): void {
    const config = puts.find((item) => textOf(item, "entity") === "QUEUE_CONFIG");
    const operator = config?.["operator"]?.M;
    if (operator === undefined) return;
    const state = operator["state"]?.S ?? "";
    if (state !== this.state) this.book.say(`the operator's state is ${state}`);
    this.state = state;
    this.letsUrgentPass = operator["allowUrgent"]?.BOOL === true;
  }

  decided({ loaded, folded }: Commit): void {
    if (this.state === "RUNNING") return;
    const { state, effects, moves } = folded.decision;
    const isUrgent = (id: string): boolean => {
      const entry = [...state.entries.values()].find((one) => one.id === id);
      return entry?.priority.value === 0;
    };
    const passes = (ids: readonly string[]): boolean => this.letsUrgentPass && ids.every(isUrgent);
    const wrong = (what: string): void =>
      this.book.problem(`version ${loaded.version + 1}: ${what} while the operator's state is ${this.state}`);
    for (const move of moves)
      if (move.reason === "ADMITTED" && !passes([move.entry])) wrong(`#${move.prNumber} was admitted`);
    if (this.state !== "PAUSED") return;
    for (const effect of effects) {
      // A test of the tip holds no change; a landing that was sent before is finished.
      const isStart = effect.type === "build-run" && effect.changes.length > 0;
      const isLanding = effect.type === "land" && state.landing?.attempt === 1;
      if (!isStart && !isLanding) continue;
      const group = effect.type === "land" ? state.landing?.group : state.runs.get(effect.run)?.group;
      if (!passes(group ?? [])) wrong(`${effect.key} was sent`);
    }
  }
}
