/**
 * A code host that is consistent with itself, as the service's port sees it. It decides nothing for the queue: it
 * builds, tests and lands lists of changes, and keeps its own book of what passed and what landed.
 */
import type { BuildRequest, CodeHost, LandRequest } from "../../../shared/code-host/port.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import type { CommitSha, RunId } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Change } from "../../../shared/queue/engine/types.ts";
import { HostRun } from "./checks.ts";
import { changesOf, Commits, type Content, headOf, headsIn, landedBy, startsWith, treeOf } from "./content.ts";
import { type HostPr, changeOf, factsOf, PullRequests } from "./pull-requests.ts";
import { type Movement, Target } from "./target.ts";
import { Truth } from "./truth.ts";

/** The branch that is the target of the one queue. */
export const TARGET = "main";

export type HostNews =
  | { readonly kind: "CHECKS"; readonly run: RunId }
  | { readonly kind: "REFS"; readonly prNumbers: readonly number[]; readonly branches: readonly string[] };

export type HostPorts = {
  readonly clock: () => EpochMs;
  /** Sets the checks of a run on their way: the first time, and those named when they are repeated. */
  readonly start: (run: HostRun, contexts: readonly string[]) => void;
  readonly tell: (news: HostNews) => void;
  readonly moved: (movement: Movement) => void;
};

type LandAnswer = Awaited<ReturnType<CodeHost["land"]>>;
type BuildAnswer = Awaited<ReturnType<CodeHost["buildRun"]>>;
const MOVED: LandAnswer = { ok: false, why: { kind: "TIP_MOVED" } };

export class SimulatedHost {
  readonly truth = new Truth();
  readonly commits = new Commits();
  readonly prs = new PullRequests();
  readonly runs = new Map<RunId, HostRun>();
  readonly target: Target;
  private readonly closed = new Set<RunId>();
  private readonly ports: HostPorts;

  constructor(ports: HostPorts) {
    this.ports = ports;
    this.target = new Target(this.commits, ports.clock, (movement) => {
      ports.moved(movement);
      ports.tell({ kind: "REFS", prNumbers: [], branches: [TARGET] });
    });
  }

  /** Something about it changed, and the host says so. */
  changed(pr: HostPr): void {
    this.ports.tell({ kind: "REFS", prNumbers: [pr.number], branches: [] });
  }

  mergeByHand(pr: HostPr): void {
    const { content } = this.target;
    if (content === null || this.conflictOf(pr) !== undefined) return;
    pr.state = "MERGED";
    this.target.move([...content, `hand:${changeOf(pr)}`], null);
    this.changed(pr);
  }

  private conflictOf(pr: HostPr): string | undefined {
    return this.truth.opponentOf(changeOf(pr), changesOf(this.target.content ?? []));
  }

  /** The port, before anything goes wrong. */
  readonly port: CodeHost = {
    pullRequest: async (_repo, number) => {
      const pr = this.prs.all.get(number);
      return pr === undefined ? "NOT_FOUND" : factsOf(pr, this.conflictOf(pr), this.target.sha);
    },
    tip: async (_repo, _branch, since, heads) => this.readTip(since, heads),
    buildRun: async (request) => this.build(request),
    repeatChecks: async (_repo, id, repeat, contexts) => this.repeat(id, repeat, contexts),
    statuses: async (_repo, id) => this.statuses(id),
    closeRun: async (_repo, id) => {
      this.closed.add(id);
      const run = this.runs.get(id);
      if (run !== undefined) run.isClosed = true;
    },
    land: async (request) => this.land(request),
  };

  private async readTip(since: CommitSha | null, heads: readonly CommitSha[]) {
    const { content } = this.target;
    if (content === null) return "MISSING" as const;
    const before = new Set(since === null ? [] : headsIn(this.commits.find(since) ?? []));
    const now = new Set(headsIn(content));
    const reached = since === null ? [] : heads.filter((head) => now.has(head) && !before.has(head));
    return { tip: this.target.tipAt(content), reached };
  }

  /** The base with these changes on top, or what stands in the way of that. */
  private stacked(base: Content, changes: readonly Change[], method: BuildRequest["mergeMethod"]) {
    let content = base;
    for (const [at, { headSha, entry, prNumber }] of changes.entries()) {
      const known = this.prs.byHead(headSha);
      if (known === undefined) throw new HostUnavailable(`#${prNumber} has no commit ${headSha}`);
      const opponent = this.truth.opponentOf(known.change, changesOf(content));
      if (opponent !== undefined) {
        const ahead = changes.slice(0, at).find((one) => this.prs.byHead(one.headSha)?.change === opponent);
        return { kind: "CONFLICT", entry, with: ahead?.entry ?? null, paths: ["a.txt"] } as const;
      }
      content = [...content, landedBy(method, known.change)];
    }
    return content;
  }

  private build(request: BuildRequest): BuildAnswer {
    const base = this.commits.find(request.base);
    if (base === undefined) throw new HostUnavailable(`there is no commit ${request.base}`);
    const content = this.stacked(base, request.changes, request.mergeMethod);
    if ("kind" in content) return { ok: false, why: content };
    const commit = this.commits.keep(content);
    const { run: id, required } = request;
    const known = this.runs.get(id);
    if (known === undefined) {
      const run = new HostRun({ id, content, base: request.base, commit, required });
      this.runs.set(id, run);
      // A close that overtook the building of its run: what was closed is not tested any more.
      run.isClosed = this.closed.has(id);
      if (!run.isClosed) this.ports.start(run, []);
    }
    return { ok: true, value: { commit, tree: treeOf(content) } };
  }

  private repeat(id: RunId, repeat: number, contexts: readonly string[]): void {
    const run = this.runs.get(id);
    if (run === undefined || run.repeats >= repeat || run.isClosed) return;
    run.repeats = repeat;
    this.ports.start(run, contexts);
  }

  private statuses(id: RunId) {
    const now = this.ports.clock();
    const run = this.runs.get(id);
    if (run === undefined) return { statuses: [], complete: false, repeats: 0, broken: "no such run" };
    const { repeats, broken } = run;
    return { statuses: run.statusesAt(now), complete: run.isCompleteAt(now), repeats, broken };
  }

  private land(request: LandRequest): LandAnswer {
    const expected = this.commits.find(request.expectedTip);
    const tested = this.commits.find(request.commit);
    const { content } = this.target;
    if (expected === undefined || tested === undefined) throw new HostUnavailable("a commit is not there");
    const isDescendant = startsWith(tested, expected);
    const lands = isDescendant ? tested : this.stacked(expected, request.changes, request.mergeMethod);
    if ("kind" in lands) return { ok: false, why: { kind: "CONFLICT", what: "it conflicts with what landed" } };
    // What an earlier attempt did is found and not done again.
    if (this.target.isWithin(lands)) return this.landed(lands);
    if (content === null || !(startsWith(content, expected) && content.length === expected.length)) return MOVED;
    const refusing = request.changes.find((change) => this.prs.all.get(change.prNumber)?.refusal !== null);
    if (refusing !== undefined)
      return { ok: false, why: { kind: "REFUSED", what: `#${refusing.prNumber} needs a review` } };
    this.target.move(lands, request);
    for (const { headSha } of request.changes) {
      const pr = this.prs.byHead(headSha)?.pr;
      // Somebody may have pushed since: what is there now has not landed.
      if (pr !== undefined && headOf(changeOf(pr)) === headSha) pr.state = "MERGED";
    }
    return this.landed(lands);
  }

  private landed(content: Content): LandAnswer {
    return { ok: true, value: { tip: this.target.tipAt(content), trees: "EQUAL" } };
  }
}
