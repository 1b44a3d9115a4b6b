/**
 * A code host that is consistent with itself: it keeps what the target holds as a list of changes, builds and lands by
 * those lists, and answers late, twice or in another order. Nothing here decides anything for the queue.
 */
import { type CommitSha, commitSha, type EntryId, type RunId, treeSha } from "../../../shared/kernel/ids.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type {
  CheckState,
  Effect,
  Mergeability,
  OwnEvidence,
  PullRequestFacts,
  QueueEvent,
  QueueState,
  StatusCheck,
  Tip,
} from "../../../shared/queue/engine/types.ts";
import { aPullRequest } from "../../support/queue.ts";
import { type Content, type Names, namesOf, shaOf, shareOne, targetsOf } from "./names.ts";

type HostPr = { facts: PullRequestFacts; version: number };
type HostRun = {
  readonly content: Content;
  readonly statuses: Map<string, CheckState>;
  repeats: number;
};

export const CHECKS = ["unit", "lint"] as const;

/** How a host that merges PR by PR may differ from one that moves the branch itself. */
export type Landings = "WHOLE" | "FIRST_ONLY" | "ON_MOVED_TIP";

const shown = (statuses: ReadonlyMap<string, CheckState>): readonly StatusCheck[] =>
  [...statuses].map(([context, state]) => ({ context, state, url: null, description: null }));

export class World {
  readonly prs = new Map<number, HostPr>();
  readonly runs = new Map<RunId, HostRun>();
  readonly commits = new Map<CommitSha, Content>();
  readonly landed = new Map<string, { readonly content: Content; readonly entries: readonly EntryId[] }>();
  target: Content | null = ["base"];
  required: readonly string[] = ["unit"];
  landings: Landings = "WHOLE";
  pathsAreMapped = false;
  pushes = 0;
  /** Changes whose tests fail; those that mend others, as `<mended>|<mender>`; and pairs that fail together. */
  readonly bad = new Set<string>();
  readonly mended = new Set<string>();
  readonly clashes = new Set<string>();
  readonly textual = new Set<string>();
  readonly refuses = new Set<number>();
  /** What each head really impacts. Who claims less lies, and no promise is made about what that breaks. */
  readonly impacts = new Map<string, Names>();
  /** What a head was rebased on, and what its own checks say. */
  private readonly bases = new Map<string, Content>();
  readonly own = new Map<string, Map<string, CheckState>>();

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

  /** Somebody goes on where the last one ended, in a pull request of the same number. */
  reopen(number: number): void {
    this.push(number);
    this.change(number, { state: "OPEN", draft: false, baseBranch: "main", mergeability: "MERGEABLE" });
  }

  /** A new head that contains the target as it is now; its own checks run on it. */
  rebase(number: number): void {
    if (this.target === null) return;
    this.push(number);
    const head = this.pr(number).facts.headSha;
    this.bases.set(head, this.target);
    const content = [...this.target, head];
    this.commits.set(head, content);
    this.own.set(head, new Map(CHECKS.map((context) => [context, this.truth(content, context)])));
  }

  tip(): Tip {
    const sha = this.keep(this.target ?? ["base"]);
    const required = this.required.length === 0 ? null : ({ source: "CONFIG_FILE", statuses: this.required } as const);
    const tip = { sha, tree: treeSha(`tree:${sha}`), required, configProblem: null };
    return this.pathsAreMapped ? { ...tip, targetsFromPaths: true } : tip;
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

  impactOf(head: string): Names {
    return this.impacts.get(head) ?? "ALL";
  }

  /** What the tests of a content say; a flake may say otherwise. */
  truth(content: Content, context: string): CheckState {
    if (context !== "unit") return "SUCCESS";
    const isHere = (pair: string): boolean => {
      const [a = "", b = ""] = pair.split("|");
      return content.includes(a) && content.includes(b) && shareOne(this.impactOf(a), this.impactOf(b));
    };
    const isMended = (change: string): boolean =>
      [...this.mended].some((pair) => pair.split("|")[0] === change && isHere(pair));
    if (content.some((change) => this.bad.has(change) && !isMended(change))) return "FAILURE";
    const clash = [...this.clashes].some(isHere);
    return clash ? "FAILURE" : "SUCCESS";
  }

  statuses(id: RunId, readAt: EpochMs | null): QueueEvent | undefined {
    const run = this.runs.get(id);
    if (run === undefined) return undefined;
    const complete = CHECKS.every((context) => (run.statuses.get(context) ?? "PENDING") !== "PENDING");
    return { type: "statuses", run: id, repeats: run.repeats, statuses: shown(run.statuses), complete, readAt };
  }

  private conflictsWith(content: Content, head: string): boolean {
    return content.some((earlier) => this.textual.has(`${earlier}|${head}`));
  }

  factsOf(number: number): PullRequestFacts {
    const { facts } = this.pr(number);
    const tip = this.tip();
    const conflicts = this.target !== null && this.conflictsWith(this.target, facts.headSha);
    const mergeability: Mergeability = conflicts ? "NOT_MERGEABLE" : facts.mergeability;
    return { ...facts, mergeability, judgedOn: tip.sha, own: this.ownEvidence(facts.headSha, tip) };
  }

  private ownEvidence(head: CommitSha, tip: Tip): OwnEvidence | null {
    const content = this.bases.get(head);
    if (this.target === null || content === undefined || !this.target.every((one) => content.includes(one)))
      return null;
    return { tip: tip.sha, tree: treeSha(`tree:${head}`), statuses: shown(this.own.get(head) ?? new Map()) };
  }

  /** Does an effect, as often as it is asked to; the answer is an event, if there is one. */
  perform(effect: Effect, state: QueueState, now: EpochMs): QueueEvent | undefined {
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
      case "ask-forgiveness":
        return undefined;
      case "land":
        return this.land(effect);
      case "read-pull-request":
        return { type: "pull-request", prNumber: effect.prNumber, facts: this.factsOf(effect.prNumber), readAt: now };
      case "read-tip":
        return this.readTip(effect);
      case "compare-targets":
        return this.compare(effect, state);
      case "compute-targets":
        return { ...effect, type: "targets-computed", targets: targetsOf(this.impactOf(effect.headSha)) };
    }
  }

  private build({ run, base, changes }: Extract<Effect, { type: "build-run" }>): QueueEvent {
    const start = this.commits.get(base) ?? [];
    for (const [at, change] of changes.entries()) {
      const opponent = changes.slice(0, at).find((earlier) => this.conflictsWith([earlier.headSha], change.headSha));
      if (!this.conflictsWith(start, change.headSha) && opponent === undefined) continue;
      const why = { kind: "CONFLICT", entry: change.entry, with: opponent?.entry ?? null, paths: ["a.txt"] } as const;
      return { type: "run-not-built", run, why };
    }
    const content = [...start, ...changes.map((change) => change.headSha)];
    if (!this.runs.has(run)) this.runs.set(run, { content, statuses: new Map(), repeats: 0 });
    const commit = this.keep(content);
    return { type: "run-built", run, commit, tree: treeSha(`tree:${commit}`) };
  }

  private land(effect: Extract<Effect, { type: "land" }>): QueueEvent {
    const { landing, run, commit, expectedTip, changes } = effect;
    const onMovedTip = this.landings === "ON_MOVED_TIP" && this.target !== null && shaOf(this.target) !== expectedTip;
    const answer = (content: Content, entries: readonly EntryId[]): QueueEvent => {
      const sha = this.keep(content);
      const tip = { ...this.tip(), sha, tree: treeSha(`tree:${sha}`) };
      return { type: "landed", landing, tip, trees: "EQUAL", entries, onMovedTip };
    };
    const key = `${run ?? commit}:${expectedTip}`;
    const before = this.landed.get(key);
    if (before !== undefined && before.content.every((one) => this.target?.includes(one) === true))
      return answer(before.content, before.entries);
    const refused = changes.find((change) => this.refuses.has(change.prNumber));
    if (refused !== undefined)
      return { type: "not-landed", landing, why: { kind: "REFUSED", what: `#${refused.prNumber} needs a review` } };
    if (this.target === null || (shaOf(this.target) !== expectedTip && !onMovedTip))
      return { type: "not-landed", landing, why: { kind: "TIP_MOVED" } };
    const all = changes.map((change) => change.headSha);
    const clash = all.find((head) => this.conflictsWith(this.target ?? [], head));
    if (clash !== undefined) return { type: "not-landed", landing, why: { kind: "CONFLICT", what: clash } };
    const lands = this.landings === "FIRST_ONLY" ? changes.slice(0, 1) : changes;
    const content = [...this.target, ...lands.map((change) => change.headSha)];
    this.target = content;
    const entries = lands.map((change) => change.entry);
    this.landed.set(key, { content, entries });
    for (const change of lands) this.change(change.prNumber, { state: "MERGED" });
    return answer(content, entries);
  }

  private readTip({ read, since }: Extract<Effect, { type: "read-tip" }>): QueueEvent {
    if (this.target === null) return { type: "tip-missing", read, what: "there is no branch main" };
    const before = new Set(since === null ? [] : this.commits.get(since));
    const reached = this.target.filter((change) => !before.has(change)).map(commitSha);
    return { type: "tip", read, tip: this.tip(), reached };
  }

  /** Held against all that came before and is still there, name by name, when somebody gets round to it. */
  private compare({ entry: id, number }: Extract<Effect, { type: "compare-targets" }>, { entries }: QueueState) {
    const comparing = entries.get(id)?.comparing ?? null;
    if (comparing?.number !== number) return undefined;
    const names = namesOf(comparing.targets);
    const overlaps = [...entries.values()].flatMap((other) => {
      if (other.id === id) return [];
      const known = [
        { number: other.lane?.number, targets: other.targets },
        { number: other.comparing?.number, targets: other.comparing?.targets ?? null },
      ];
      return known.flatMap((one) =>
        one.number !== undefined && one.number < number && shareOne(names, namesOf(one.targets)) ? [one.number] : [],
      );
    });
    const isolated = names !== "ALL" && names.includes("d");
    return { type: "targets-compared", entry: id, number, overlaps, isolated } as const;
  }
}
