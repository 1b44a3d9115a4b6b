/**
 * The code host as the service's port sees it: consistent with itself, and before anything goes wrong. It decides
 * nothing for the queue: it builds, tests and lands lists of changes.
 */
import type { BuildRequest, CodeHost, LandRequest } from "../../../shared/code-host/port.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import type { CommitSha, RunId } from "../../../shared/kernel/ids.ts";
import type { Change, OwnEvidence } from "../../../shared/queue/engine/types.ts";
import { HostRun } from "./checks.ts";
import { changesOf, type Content, headOf, headsIn, landedBy, startsWith, treeOf } from "./content.ts";
import { changeOf, factsOf, type HostPr } from "./pull-requests.ts";
import type { HostWorld } from "./world.ts";

type LandAnswer = Awaited<ReturnType<CodeHost["land"]>>;
type BuildAnswer = Awaited<ReturnType<CodeHost["buildRun"]>>;
const MOVED: LandAnswer = { ok: false, why: { kind: "TIP_MOVED" } };
const refused = (what: string): LandAnswer => ({ ok: false, why: { kind: "REFUSED", what } });

export function codeHostOf(world: HostWorld): CodeHost {
  /** Runs that were closed, also before they were built. */
  const closed = new Set<RunId>();
  return {
    pullRequest: async (_repo, number) => {
      const pr = world.prs.get(number);
      if (pr === undefined) return "NOT_FOUND";
      return factsOf(pr, { tip: world.target.sha, conflict: world.conflictOf(pr), own: ownOf(world, pr) });
    },
    tip: async (_repo, _branch, since, heads) => readTip(world, since, heads),
    impactedTargets: async (_repo, _number, head) => {
      const known = world.byHead(head);
      const { mapsPaths } = world.target.configAt(world.target.content ?? []);
      return known === undefined || !mapsPaths ? "ALL" : [...(world.truth.areasOf(known.change) ?? [])];
    },
    buildRun: async (request) => build(world, request, closed.has(request.run)),
    repeatChecks: async (_repo, id, repeat, contexts) => {
      const run = world.runs.get(id);
      if (run === undefined || run.repeats >= repeat || run.isClosed) return;
      run.repeats = repeat;
      world.ports.start(run, contexts);
    },
    statuses: async (_repo, id) => {
      const now = world.ports.clock();
      const run = world.runs.get(id);
      if (run === undefined) return { statuses: [], complete: false, repeats: 0, broken: "no such run" };
      const { repeats, broken } = run;
      return { statuses: run.statusesAt(now), complete: run.isCompleteAt(now), repeats, broken };
    },
    closeRun: async (_repo, id) => {
      closed.add(id);
      const run = world.runs.get(id);
      if (run !== undefined) run.isClosed = true;
    },
    land: async (request) => land(world, request),
  };
}

/** What the head's own checks say, where it holds nothing but the target as it is now and itself. */
function ownOf(world: HostWorld, pr: HostPr): OwnEvidence | null {
  const { content, sha } = world.target;
  const head = world.byHead(headOf(changeOf(pr)));
  if (content === null || sha === null || head === undefined || head.base.join() !== content.join()) return null;
  return { tip: sha, tree: treeOf(head.own.content), statuses: head.own.statusesAt(world.ports.clock()) };
}

async function readTip({ target, commits }: HostWorld, since: CommitSha | null, heads: readonly CommitSha[]) {
  const { content } = target;
  if (content === null) return "MISSING" as const;
  const before = new Set(since === null ? [] : headsIn(commits.find(since) ?? []));
  const now = new Set(headsIn(content));
  const reached = since === null ? [] : heads.filter((head) => now.has(head) && !before.has(head));
  return { tip: target.tipAt(content), reached };
}

/** The base with these changes on top, or what stands in the way of that. */
function stacked(world: HostWorld, base: Content, changes: readonly Change[], method: BuildRequest["mergeMethod"]) {
  let content = base;
  for (const [at, { headSha, entry, prNumber }] of changes.entries()) {
    const known = world.byHead(headSha);
    if (known === undefined) throw new HostUnavailable(`#${prNumber} has no commit ${headSha}`);
    if (world.truth.unbuildable.has(known.change))
      return { kind: "OWN", entry, what: "its history has nothing to do with the target's" } as const;
    const opponent = world.truth.opponentOf(known.change, changesOf(content));
    if (opponent !== undefined) {
      const ahead = changes.slice(0, at).find((one) => world.byHead(one.headSha)?.change === opponent);
      return { kind: "CONFLICT", entry, with: ahead?.entry ?? null, paths: ["a.txt"] } as const;
    }
    content = [...content, landedBy(method, known.change)];
  }
  return content;
}

function build(world: HostWorld, request: BuildRequest, isClosed: boolean): BuildAnswer {
  const { run: id, required } = request;
  const base = world.commits.find(request.base);
  if (base === undefined) throw new HostUnavailable(`there is no commit ${request.base}`);
  const content = stacked(world, base, request.changes, request.mergeMethod);
  if ("kind" in content) return { ok: false, why: content };
  const known = world.runs.get(id);
  if (known === undefined) {
    const run = new HostRun(id, content, required, () => world.ports.tell({ kind: "CHECKS", run: id }));
    world.runs.set(id, run);
    // A close that overtook the building of its run: what was closed is not tested any more.
    run.isClosed = isClosed;
    if (!isClosed) world.ports.start(run, []);
  }
  return { ok: true, value: { commit: world.commits.keep(content), tree: treeOf(content) } };
}

/** What the target would hold: the tested commit where it descends from the tip, or the same changes merged onto it. */
function whatLands(world: HostWorld, request: LandRequest): Content | LandAnswer {
  const expected = world.commits.find(request.expectedTip);
  const tested = world.commits.find(request.commit);
  if (expected === undefined || tested === undefined) throw new HostUnavailable("a commit is not there");
  const merged = stacked(world, expected, request.changes, request.mergeMethod);
  const isDescendant = startsWith(tested, expected);
  if (request.run === null && !isDescendant) return refused("its head does not contain the target");
  if ("kind" in merged)
    return merged.kind === "OWN"
      ? refused(merged.what)
      : { ok: false, why: { kind: "CONFLICT", what: "it conflicts" } };
  if (isDescendant && treeOf(merged) !== treeOf(tested)) return refused("what was tested is something else");
  return request.run !== null && isDescendant ? tested : merged;
}

function land(world: HostWorld, request: LandRequest): LandAnswer {
  const { target } = world;
  const isThere = target.content !== null && target.sha === request.expectedTip;
  const lands = whatLands(world, request);
  if ("ok" in lands) return isThere ? lands : MOVED;
  const landed = (): LandAnswer => ({ ok: true, value: { tip: target.tipAt(lands), trees: "EQUAL" } });
  // What an earlier attempt did is found and not done again.
  if (target.isWithin(lands)) return landed();
  if (!isThere) return MOVED;
  const refusing = request.changes.find((change) => world.prs.get(change.prNumber)?.refusal !== null);
  if (refusing !== undefined) return refused(`#${refusing.prNumber} needs a review`);
  target.move(lands, request);
  for (const { headSha } of request.changes) {
    const pr = world.byHead(headSha)?.pr;
    // Somebody may have pushed since: what is there now has not landed.
    if (pr !== undefined && headOf(changeOf(pr)) === headSha) pr.state = "MERGED";
  }
  return landed();
}
