/** Builds what a run tests: a base with changes on top, in order. Says which change is in the way of which. */
import type { CommitSha } from "../../kernel/ids.ts";
import { type Built, HostUnavailable } from "../port.ts";
import type { Change, MergeMethod, NotBuilt } from "../../queue/engine/types.ts";
import { type Applied, applyChange } from "./apply.ts";
import type { Git } from "./git.ts";
import { mergeCommits, pathsInWords } from "./merge.ts";
import { areCommits, readCommit } from "./objects.ts";

export type BuildAnswer =
  | { readonly ok: true; readonly value: Built }
  | { readonly ok: false; readonly why: Exclude<NotBuilt, { kind: "INFRASTRUCTURE" }> };

/**
 * What was built before or is being built, by what it is built of. The same change on the same parent is the same
 * commit, and each run contains what the one ahead of it was built of: without it a queue of n would cost n² merges,
 * and runs that are built at the same time would each make them all.
 */
export type Memory = Map<string, Promise<Applied>>;
const MOST_REMEMBERED = 10_000;

/** Throws HostUnavailable when the base is not in the repository or git breaks. */
export async function buildStack(
  git: Git,
  method: MergeMethod,
  base: CommitSha,
  changes: readonly Change[],
  memory: Memory = new Map(),
): Promise<BuildAnswer> {
  const [isBaseHere, ...areHeadsHere] = await areCommits(git, [base, ...changes.map((change) => change.headSha)]);
  if (isBaseHere !== true) throw new HostUnavailable(`commit ${base} of the target branch is not in the repository`);
  const gone = changes[areHeadsHere.indexOf(false)];
  if (gone !== undefined) return own(gone, `commit ${gone.headSha} is not in the repository`);
  const points: CommitSha[] = [base];
  let isFromMemory = false;
  for (const [index, change] of changes.entries()) {
    const parent = points[index] ?? base;
    const known = memory.get(nameOf(method, parent, change));
    isFromMemory ||= known !== undefined;
    const applied = await (known ?? remembered(memory, git, method, parent, change));
    if (applied.kind === "OWN") return own(change, applied.what);
    if (applied.kind === "CONFLICT")
      return { ok: false, why: await attribute(git, method, points, changes.slice(0, index), change, applied.paths) };
    points.push(applied.commit);
  }
  // Somebody may have tidied the repository, or put another in its place.
  if (isFromMemory && (await areCommits(git, points)).includes(false)) {
    memory.clear();
    return buildStack(git, method, base, changes);
  }
  const commit = points.at(-1) ?? base;
  const top = await readCommit(git, commit);
  if (top === undefined) throw new HostUnavailable(`commit ${commit} cannot be read back`);
  return { ok: true, value: { commit, tree: top.tree } };
}

const nameOf = (method: MergeMethod, parent: CommitSha, { entry: _entry, ...change }: Change): string =>
  JSON.stringify([method, parent, change]);

/** Kept only when it was built: what failed may fail for a reason that passes. */
function remembered(
  memory: Memory,
  git: Git,
  method: MergeMethod,
  parent: CommitSha,
  change: Change,
): Promise<Applied> {
  const oldest = memory.keys().next();
  if (memory.size >= MOST_REMEMBERED && oldest.done !== true) memory.delete(oldest.value);
  const name = nameOf(method, parent, change);
  const applied = applyChange(git, method, parent, change);
  memory.set(name, applied);
  const forget = (): void => void memory.delete(name);
  applied.then((one) => (one.kind === "BUILT" ? undefined : forget()), forget);
  return applied;
}

const own = (change: Change, what: string): BuildAnswer => ({
  ok: false,
  why: { kind: "OWN", entry: change.entry, what },
});

/**
 * With whom does a change conflict? With the base, if it conflicts there alone. Else with the nearest earlier change
 * that it conflicts with when that one stands alone on the base: when that one is settled, those before it are, too.
 * If none does by itself, with the one whose addition to those before it makes the conflict.
 */
async function attribute(
  git: Git,
  method: MergeMethod,
  points: readonly CommitSha[],
  earlier: readonly Change[],
  change: Change,
  paths: readonly string[],
): Promise<Exclude<NotBuilt, { kind: "INFRASTRUCTURE" }>> {
  const base = points[0] ?? change.headSha;
  const alone = await applyChange(git, method, base, change);
  if (alone.kind === "CONFLICT") return againstBase(git, method, base, change, alone.paths);
  const conflict = (other: Change | undefined) =>
    ({ kind: "CONFLICT", entry: change.entry, with: other?.entry ?? null, paths }) as const;
  for (const other of earlier.toReversed()) {
    const pair = await applyPair(git, method, base, other, change);
    if (pair === "CONFLICT") return conflict(other);
  }
  for (const [index, other] of earlier.entries()) {
    const after = await applyChange(git, method, points[index + 1] ?? base, change);
    if (after.kind === "CONFLICT") return conflict(other);
  }
  return conflict(earlier.at(-1));
}

async function applyPair(
  git: Git,
  method: MergeMethod,
  base: CommitSha,
  first: Change,
  second: Change,
): Promise<Applied["kind"]> {
  const one = await applyChange(git, method, base, first);
  return one.kind === "BUILT" ? (await applyChange(git, method, one.commit, second)).kind : "OWN";
}

/**
 * Commits that cannot be rebased one by one although the whole merges cleanly: waiting for the target would not help,
 * and the host calls the PR mergeable, so that is its own affair and not a conflict with the tip.
 */
async function againstBase(
  git: Git,
  method: MergeMethod,
  base: CommitSha,
  change: Change,
  paths: readonly string[],
): Promise<Exclude<NotBuilt, { kind: "INFRASTRUCTURE" }>> {
  if (method === "REBASE" && (await mergeCommits(git, base, change.headSha)).kind === "CLEAN")
    return {
      kind: "OWN",
      entry: change.entry,
      what: `its commits cannot be rebased one by one (${pathsInWords(paths)}): squash them, or rebase it by hand`,
    };
  return { kind: "CONFLICT", entry: change.entry, with: null, paths };
}
