/** What there is on the code host: pull requests, commits, test runs, the target; and what people do to them. */
import type { CommitSha, RunId } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import { HostRun } from "./checks.ts";
import { changesOf, Commits, type Content, headOf } from "./content.ts";
import { aPullRequest, changeOf, type Head, type HostPr } from "./pull-requests.ts";
import { type Movement, Target } from "./target.ts";
import { Truth } from "./truth.ts";

/** The branch that is the target of the one queue. */
export const TARGET = "main";

export type HostNews =
  | { readonly kind: "CHECKS"; readonly run: RunId }
  | { readonly kind: "REFS"; readonly prNumbers: readonly number[]; readonly branches: readonly string[] };

export type HostPorts = {
  readonly clock: () => EpochMs;
  /** Sets the checks of a run on their way: all of them, or those named when they are repeated. */
  readonly start: (run: HostRun, contexts: readonly string[]) => void;
  readonly tell: (news: HostNews) => void;
  readonly moved: (movement: Movement) => void;
};

export class HostWorld {
  readonly truth = new Truth();
  readonly commits = new Commits();
  readonly prs = new Map<number, HostPr>();
  readonly runs = new Map<RunId, HostRun>();
  readonly target: Target;
  readonly ports: HostPorts;
  /** Every head that a pull request ever had; the host keeps the objects. */
  private readonly pushed = new Map<CommitSha, Head>();

  constructor(ports: HostPorts) {
    this.ports = ports;
    this.target = new Target(this.commits, ports.clock, (movement) => {
      ports.moved(movement);
      ports.tell({ kind: "REFS", prNumbers: [], branches: [TARGET] });
    });
  }

  open(number: number, fromFork = false): HostPr {
    const made = aPullRequest(number, fromFork);
    this.prs.set(number, made);
    return made;
  }

  push(pr: HostPr): void {
    pr.version += 1;
  }

  /** Its head is what it is now, on top of what the target holds now; its own checks begin, if it has any. */
  headIsPushed(pr: HostPr, isTested = true): void {
    const change = changeOf(pr);
    const base = this.target.content ?? [];
    const content = [...base, `head:${change}`];
    const own = new HostRun(`head of #${pr.number}`, content, [], () => this.changed(pr));
    this.pushed.set(headOf(change), { pr, change, base, own });
    this.commits.keepAs(headOf(change), content);
    if (isTested) this.ports.start(own, []);
  }

  byHead(head: CommitSha): Head | undefined {
    return this.pushed.get(head);
  }

  heads(): Iterable<Head> {
    return this.pushed.values();
  }

  /** Something about it changed, and the host says so. */
  changed(pr: HostPr): void {
    this.ports.tell({ kind: "REFS", prNumbers: [pr.number], branches: [] });
  }

  mergeByHand(pr: HostPr): void {
    const { content } = this.target;
    if (content === null || this.conflictOf(pr, content) !== undefined) return;
    pr.state = "MERGED";
    this.target.move([...content, `hand:${changeOf(pr)}`], null);
    this.changed(pr);
  }

  conflictOf(pr: HostPr, content: Content = this.target.content ?? []): string | undefined {
    return this.truth.opponentOf(changeOf(pr), changesOf(content));
  }
}
