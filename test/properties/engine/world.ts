/**
 * A code host that is consistent with itself: it keeps what the target holds as a list of changes, builds and lands by
 * those lists, and answers late, twice or in another order. Nothing here decides anything for the queue.
 */
import { type CommitSha, commitSha, type RunId, treeSha } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type {
  CheckState,
  Effect,
  PullRequestFacts,
  QueueEvent,
  StatusCheck,
  Tip,
} from "../../../shared/queue/engine/types.ts";
import { aPullRequest } from "../../support/queue.ts";

/** A change is named `<number>@<version>`; what somebody else pushed is named `push<n>`. */
export type Content = readonly string[];

type HostPr = { facts: PullRequestFacts; version: number };
type HostRun = {
  readonly content: Content;
  readonly statuses: Map<string, CheckState>;
  repeats: number;
  broken: boolean;
};

const CHECKS = ["unit", "lint"] as const;
export const shaOf = (content: Content): CommitSha => commitSha(content.join(","));

export class World {
  readonly prs = new Map<number, HostPr>();
  readonly runs = new Map<RunId, HostRun>();
  readonly commits = new Map<CommitSha, Content>();
  readonly landed = new Map<string, { readonly content: Content }>();
  target: Content | null = ["base"];
  required: readonly string[] = ["unit"];
  pushes = 0;
  /** Changes whose tests fail, and pairs that fail together. */
  readonly bad = new Set<string>();
  readonly clashes = new Set<string>();
  readonly textual = new Set<string>();
  readonly refuses = new Set<number>();

  constructor() {
    this.keep(["base"]);
  }

  private keep(content: Content): CommitSha {
    const sha = shaOf(content);
    this.commits.set(sha, content);
    return sha;
  }

  pr(number: number): HostPr {
    const known = this.prs.get(number);
    if (known !== undefined) return known;
    const made = { facts: aPullRequest(number, { headSha: commitSha(`${number}@1`) }), version: 1 };
    this.prs.set(number, made);
    return made;
  }

  change(number: number, change: Partial<PullRequestFacts>): void {
    const pr = this.pr(number);
    pr.facts = { ...pr.facts, ...change };
  }

  toggleRefusal(number: number): void {
    if (!this.refuses.delete(number)) this.refuses.add(number);
  }

  push(number: number): void {
    const pr = this.pr(number);
    pr.version += 1;
    pr.facts = { ...pr.facts, headSha: commitSha(`${number}@${pr.version}`) };
  }

  tip(): Tip {
    const sha = this.keep(this.target ?? ["base"]);
    const required = this.required.length === 0 ? null : ({ source: "CONFIG_FILE", statuses: this.required } as const);
    return { sha, tree: treeSha(`tree:${sha}`), required, configProblem: null };
  }

  pushToTarget(): void {
    this.pushes += 1;
    this.target = [...(this.target ?? ["base"]), `push${this.pushes}`];
    this.keep(this.target);
  }

  mergeByHand(number: number): void {
    const { facts } = this.pr(number);
    if (facts.state !== "OPEN" || this.target === null) return;
    this.target = [...this.target, facts.headSha];
    this.keep(this.target);
    this.change(number, { state: "MERGED" });
  }

  /** What the tests of a content say; a flake may say otherwise. */
  truth(content: Content, context: string): CheckState {
    if (context !== "unit") return "SUCCESS";
    if (content.some((change) => this.bad.has(change))) return "FAILURE";
    const clashes = [...this.clashes].some((pair) => pair.split("|").every((change) => content.includes(change)));
    return clashes ? "FAILURE" : "SUCCESS";
  }

  report(id: RunId, context: string, state: CheckState): void {
    this.runs.get(id)?.statuses.set(context, state);
  }

  statuses(id: RunId, readAt: EpochMs | null): QueueEvent | undefined {
    const run = this.runs.get(id);
    if (run === undefined) return undefined;
    if (run.broken) return { type: "run-broken", run: id, what: "the runner died" };
    const statuses: StatusCheck[] = [...run.statuses].map(([context, state]) => ({
      context,
      state,
      url: null,
      description: null,
    }));
    const complete = CHECKS.every((context) => (run.statuses.get(context) ?? "PENDING") !== "PENDING");
    return { type: "statuses", run: id, repeats: run.repeats, statuses, complete, readAt };
  }

  facts(number: number, now: EpochMs): QueueEvent {
    const { facts } = this.pr(number);
    return { type: "pull-request", prNumber: number, facts: { ...facts, judgedOn: this.tip().sha }, readAt: now };
  }

  /** Does an effect, as often as it is asked to; the answer is an event, if there is one. */
  perform(effect: Effect, now: EpochMs): QueueEvent | undefined {
    switch (effect.type) {
      case "build-run":
        return this.build(effect);
      case "repeat-checks": {
        const run = this.runs.get(effect.run);
        if (run === undefined || run.repeats >= effect.repeat) return undefined;
        run.repeats = effect.repeat;
        for (const context of effect.contexts) run.statuses.delete(context);
        return undefined;
      }
      case "read-statuses":
        return this.statuses(effect.run, now);
      case "close-run":
        return undefined;
      case "land":
        return this.land(effect);
      case "read-pull-request":
        return this.facts(effect.prNumber, now);
      case "read-tip":
        return this.readTip(effect);
      case "compare-targets":
      case "compute-targets":
        return undefined;
    }
  }

  private build({ run, base, changes }: Extract<Effect, { type: "build-run" }>): QueueEvent {
    const start = this.commits.get(base) ?? [];
    const heads = changes.map((change) => String(change.headSha));
    for (const [at, change] of changes.entries()) {
      const conflicts = (earlier: string): boolean => this.textual.has(`${earlier}|${change.headSha}`);
      const opponent = changes.slice(0, at).find((earlier) => conflicts(earlier.headSha));
      if (!start.some(conflicts) && opponent === undefined) continue;
      const why = { kind: "CONFLICT", entry: change.entry, with: opponent?.entry ?? null, paths: ["a.txt"] } as const;
      return { type: "run-not-built", run, why };
    }
    const content = [...start, ...heads];
    const known = this.runs.get(run);
    if (known === undefined) this.runs.set(run, { content, statuses: new Map(), repeats: 0, broken: false });
    const commit = this.keep(content);
    return { type: "run-built", run, commit, tree: treeSha(`tree:${commit}`) };
  }

  private land(effect: Extract<Effect, { type: "land" }>): QueueEvent {
    const { landing, run, commit, expectedTip, changes } = effect;
    const entries = changes.map((change) => change.entry);
    const answer = (content: Content): QueueEvent => {
      const sha = this.keep(content);
      const tip = { ...this.tip(), sha, tree: treeSha(`tree:${sha}`) };
      return { type: "landed", landing, tip, trees: "EQUAL", entries, onMovedTip: false };
    };
    const key = `${run}:${expectedTip}`;
    const before = this.landed.get(key);
    if (before !== undefined) return answer(before.content);
    const refused = changes.find((change) => this.refuses.has(change.prNumber));
    if (refused !== undefined)
      return { type: "not-landed", landing, why: { kind: "REFUSED", what: `#${refused.prNumber} needs a review` } };
    if (this.target === null || shaOf(this.target) !== expectedTip)
      return { type: "not-landed", landing, why: { kind: "TIP_MOVED" } };
    const content = this.commits.get(commit) ?? [];
    this.target = content;
    this.landed.set(key, { content });
    for (const change of changes) this.change(change.prNumber, { state: "MERGED" });
    return answer(content);
  }

  private readTip({ read, since }: Extract<Effect, { type: "read-tip" }>): QueueEvent {
    if (this.target === null) return { type: "tip-missing", read, what: "there is no branch main" };
    const before = new Set(since === null ? [] : this.commits.get(since));
    const reached = this.target.filter((change) => !before.has(change)).map(commitSha);
    return { type: "tip", read, tip: this.tip(), reached };
  }
}
