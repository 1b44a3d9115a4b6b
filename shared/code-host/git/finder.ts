/** Finds runs by the commit that they tested: of those that this process has opened or taken up. */
import type { CommitSha, RepoKey, RunId } from "../../kernel/ids.ts";
import type { Job } from "./job.ts";

const MOST_REMEMBERED = 10_000;

export function createFinder() {
  const runs = new Map<string, readonly RunId[]>();
  const nameOf = ({ host, owner, name }: RepoKey, commit: CommitSha): string => [host, owner, name, commit].join(" ");
  return {
    add: ({ run, repo, commit }: Pick<Job, "run" | "repo" | "commit">): void => {
      const name = nameOf(repo, commit);
      const known = runs.get(name) ?? [];
      runs.delete(name);
      runs.set(name, [run, ...known.filter((one) => one !== run)]);
      const oldest = runs.keys().next();
      if (runs.size > MOST_REMEMBERED && oldest.done !== true) runs.delete(oldest.value);
    },
    /** The one that was added last comes first. */
    runsOf: (repo: RepoKey, commit: CommitSha): readonly RunId[] => runs.get(nameOf(repo, commit)) ?? [],
  };
}
