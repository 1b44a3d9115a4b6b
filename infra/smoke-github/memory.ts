/** What the connection keeps, for as long as this program runs. */
import type { GitHubMemory, GitHubRepository, GitHubRun, Stepped } from "../../shared/code-host/github/port.ts";
import type { RepoKey } from "../../shared/kernel/ids.ts";

export function memoryOfOne(): GitHubMemory {
  const runs = new Map<string, GitHubRun>();
  const steps = new Map<string, Stepped>();
  const buried = new Set<string>();
  const repositories = new Map<string, GitHubRepository>();
  const nameOf = ({ host, owner, name }: RepoKey): string => `${host}/${owner}/${name}`;
  return {
    run: async (id) => runs.get(id),
    putRun: async (run) => void runs.set(run.run, run),
    bury: async (run) => void buried.add(run),
    isBuried: async (run) => buried.has(run),
    step: async (repo, { parent, head }) => steps.get(`${nameOf(repo)} ${parent} ${head}`),
    putStep: async (repo, { parent, head }, made) => void steps.set(`${nameOf(repo)} ${parent} ${head}`, made),
    repository: async (repo) => repositories.get(nameOf(repo)),
    putRepository: async (repo, is) => {
      repositories.set(nameOf(repo), is);
      return true;
    },
    repositoriesOfId: async () => [],
  };
}
