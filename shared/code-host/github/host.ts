/** GitHub as a code host, for one organization: its repositories are those of the installations linked to it. */
import type { OrgSlug, RepoKey } from "../../kernel/ids.ts";
import { type CodeHost, HostUnavailable } from "../port.ts";
import { codeownersOf } from "./codeowners.ts";
import { Answered, type GitHubClient } from "./client.ts";
import { land } from "./land.ts";
import type { Place } from "./place.ts";
import type { GitHubMemory, InstallationOf } from "./port.ts";
import { readPullRequest } from "./pull-request.ts";
import { closeRun, openRun, readRun, repeatRun } from "./runs.ts";
import { targetsOfPaths } from "./targets.ts";
import { readTip } from "./tip.ts";

export type GitHubHostOptions = {
  readonly org: OrgSlug;
  /** The name under which its repositories are known, `github.com`. */
  readonly host: string;
  readonly client: GitHubClient;
  readonly memory: GitHubMemory;
  readonly installationOf: InstallationOf;
};

export function createGitHubHost({ org, host, client, memory, installationOf }: GitHubHostOptions): CodeHost {
  const at = async <T>(key: RepoKey, work: (place: Place) => Promise<T>): Promise<T> =>
    guarded(async () => {
      const installation = await installationOf(org, host, key.owner);
      if (installation === undefined) throw new HostUnavailable(notLinked(org, key));
      const { appId } = client;
      return work({ ask: client.as(installation), key, at: { owner: key.owner, repo: key.name }, appId, memory });
    });
  return {
    opensPullRequests: true,
    pullRequest: (repo, prNumber, branch) => at(repo, (place) => readPullRequest(place, prNumber, branch)),
    tip: (repo, branch, since, heads) => at(repo, (place) => readTip(place, branch, since, heads)),
    impactedTargets: (repo, _number, head, branch) => at(repo, (place) => targetsOfPaths(place, head, branch)),
    codeowners: (repo) => at(repo, codeownersOf),
    buildRun: (request) => at(request.repo, (place) => openRun(place, request)),
    repeatChecks: (repo, run, repeat, contexts) => at(repo, (place) => repeatRun(place, run, repeat, contexts)),
    statuses: (repo, run) => at(repo, (place) => readRun(place, run)),
    closeRun: (repo, run, branch) => at(repo, (place) => closeRun(place, run, branch)),
    land: (request) => at(request.repo, (place) => land(place, request)),
  };
}

const notLinked = (org: OrgSlug, { owner }: RepoKey): string =>
  `the GitHub App is not linked to organization ${org} for ${owner}: npm run github-app -- link --org ${org}`;

/** Whatever GitHub answers that no verb expects says nothing about the pull request. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HostUnavailable) throw error;
    if (error instanceof Answered && (error.status === 401 || error.status === 403 || error.status === 404))
      throw new HostUnavailable(`${error.message}: check the App's installation and its permissions`, { cause: error });
    throw new HostUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
