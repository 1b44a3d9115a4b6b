/** GitHub as a code host, for one organization: its repositories are those of the installations linked to it. */
import type { OrgSlug, RepoKey } from "../../kernel/ids.ts";
import { type Clock, systemClock } from "../../kernel/time.ts";
import { type CodeHost, HostUnavailable } from "../port.ts";
import { codeownersOf } from "./codeowners.ts";
import { Answered, type GitHubClient } from "./client.ts";
import { readForkRun } from "./fork.ts";
import { land } from "./land.ts";
import { createPeople } from "./people.ts";
import type { Place } from "./place.ts";
import type { GitHubMemory, InstallationOf } from "./port.ts";
import { readPullRequest } from "./pull-request.ts";
import { repeatRun } from "./repeat.ts";
import { closeRun, openRun, readRun } from "./runs.ts";
import type { ShownStore } from "./show-port.ts";
import { targetsOfPaths } from "./targets.ts";
import { readTip } from "./tip.ts";
import { turns } from "./turns.ts";
import { createWhereabouts } from "./whereabouts.ts";

export type GitHubHostOptions = {
  readonly org: OrgSlug;
  /** The name under which its repositories are known, `github.com`. */
  readonly host: string;
  readonly client: GitHubClient;
  readonly memory: GitHubMemory;
  readonly installationOf: InstallationOf;
  readonly clock?: Clock;
  /** Absent: nothing is shown to people. */
  readonly pages?: ShownStore;
};

export function createGitHubHost(options: GitHubHostOptions): CodeHost {
  const { client, memory, clock = systemClock, pages } = options;
  const whereabouts = createWhereabouts({ ...options, clock });
  const placed = async <T>(key: RepoKey, when: "LATELY" | "NOW", work: (place: Place) => Promise<T>): Promise<T> =>
    guarded(async () => {
      const { owner, name, installation } = await whereabouts(key, when);
      const ask = client.as(installation);
      return work({
        ask,
        spare: client.spare(installation),
        key,
        at: { owner, repo: name },
        appId: client.appId,
        memory,
      });
    });
  const at = <T>(key: RepoKey, work: (place: Place) => Promise<T>): Promise<T> => placed(key, "LATELY", work);
  const now = <T>(key: RepoKey, work: (place: Place) => Promise<T>): Promise<T> => placed(key, "NOW", work);
  const inTurn = turns();
  return {
    opensPullRequests: true,
    ...(pages === undefined ? {} : { people: createPeople(at, pages, clock) }),
    pullRequest: (repo, prNumber, branch) => now(repo, (place) => readPullRequest(place, prNumber, branch)),
    tip: (repo, branch, since, heads) => now(repo, (place) => readTip(place, branch, since, heads)),
    impactedTargets: (repo, _number, head, branch) => at(repo, (place) => targetsOfPaths(place, head, branch)),
    codeowners: (repo) => at(repo, codeownersOf),
    forkRun: (repo, run, prNumber) => at(repo, (place) => readForkRun(place, run, prNumber)),
    buildRun: (request) => inTurn(request, () => now(request.repo, (place) => openRun(place, request))),
    repeatChecks: (repo, run, repeat, contexts) => now(repo, (place) => repeatRun(place, run, repeat, contexts)),
    statuses: (repo, run) => at(repo, (place) => readRun(place, run)),
    closeRun: (repo, run, branch) => now(repo, (place) => closeRun(place, run, branch)),
    land: (request) => now(request.repo, (place) => land(place, request)),
  };
}

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
