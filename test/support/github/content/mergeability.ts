/** Whether a pull request merges is computed in the background: nobody knows at first, asking starts it. */
import { setRef } from "./refs.ts";
import { inTurn, type Pull, type Repository, type World } from "../world.ts";
import { mergedTree, writeCommit } from "./commits.ts";
import { rebased } from "./merging.ts";
import { tipOf } from "./rules.ts";

export function askMergeability(world: World, repo: Repository, pull: Pull): void {
  if (pull.mergeability.kind !== "UNKNOWN" || pull.state === "closed") return;
  pull.mergeability = { kind: "COMPUTING" };
  const timer = setTimeout(() => {
    inTurn(repo, () => compute(world, repo, pull)).catch(() => {
      pull.mergeability = { kind: "UNKNOWN" };
    });
  }, world.mergeabilityDelayMs);
  timer.unref();
}

/** The answer is kept as `refs/pull/<n>/merge`, where workflows of the pull request find it. */
export async function compute(world: World, repo: Repository, pull: Pull): Promise<void> {
  const tip = tipOf(repo, pull.base.ref);
  // A push since has asked for a new answer, which whoever asks next begins.
  if (pull.mergeability.kind !== "COMPUTING" || tip === undefined) return;
  const tree = await mergedTree(repo.git, tip, pull.head.sha);
  const at = new Date(world.now()).toISOString();
  const by = { name: "GitHub", email: "noreply@github.com", date: at };
  const message = `Merge ${pull.head.sha} into ${tip}`;
  const parents = [tip, pull.head.sha];
  const merge =
    tree === null ? null : await writeCommit(repo.git, { tree, parents, message, author: by, committer: by });
  const rebaseable = merge !== null && (await rebased(repo.git, tip, pull.head.sha, by)) !== null;
  const ref = `refs/pull/${pull.number}/merge`;
  if (merge === null) await repo.git.run(["update-ref", "-d", ref]);
  else await setRef(repo.git, ref, merge);
  pull.mergeability = { kind: "KNOWN", mergeCommit: merge, rebaseable };
}
