/**
 * Whether a fork's workflow is let in without a token: its run is in progress, comes from a fork's pull request of that
 * repository, and is of the commit that it speaks of, which is that pull request's head. Anybody may ask, so nothing is
 * asked of the code host before the account is linked and the queue is there, and what was refused is remembered for a
 * while.
 */
import * as z from "zod";
import type { ForkAsks, ForkDoor } from "../shared/http/fork.ts";
import type { Principal } from "../shared/http/authorizer-answer.ts";
import { commitSha, type OrgSlug, type QueueKey, repoKey } from "../shared/kernel/ids.ts";
import { later, MINUTE_MS, SECOND_MS } from "../shared/kernel/time.ts";
import { prNumber, sha } from "../shared/schemas/pull-request.ts";
import { queueRef } from "../shared/schemas/repo.ts";
import type { Wiring } from "./wiring.ts";

type App = Pick<Wiring, "queues" | "hosts" | "installations" | "refusals" | "clock" | "log">;

/** The rest of the body is read once it is known who sends it. */
const asking = queueRef.extend({ pr: z.looseObject({ number: prNumber, sha }) });

type Spoken = { readonly number: number; readonly sha: string };

const REMEMBERED_MS = 30 * SECOND_MS;
/** Wrong ones of one account in a minute: whoever is right is asked about all the same until then. */
const REFUSALS_MAX = 10;

export const forkDoor =
  (app: () => App): ForkDoor =>
  async (asked) => {
    const judged = await judge(app(), asked);
    if (typeof judged !== "string") return judged;
    app().log.warn("a fork's workflow was not let in", { requestId: asked.requestId, run: asked.run, why: judged });
    return undefined;
  };

/** The principal, or why there is none. */
async function judge(app: App, { run, body }: ForkAsks): Promise<Principal | string> {
  const read = asking.safeParse(body);
  if (!read.success) return "its body names no queue, or no whole commit as pr.sha";
  const { repo: named, targetBranch: branch, pr } = read.data;
  const repo = repoKey(named);
  const installation = await app.installations.onAccount(repo.host, repo.owner);
  if (installation === undefined) return "the account is not linked";
  const key: QueueKey = { org: installation.org, repo, branch };
  if ((await app.queues.find(key)) === undefined) return "there is no such queue";
  const why = await remembered(app, key, run, pr);
  return why ?? principalOf(installation.org, run);
}

/** Undefined: it is right, which is asked anew each time, since a run ends. */
async function remembered(app: App, key: QueueKey, run: number, pr: Spoken): Promise<string | undefined> {
  const { refusals, clock } = app;
  const { host, owner, name } = key.repo;
  const [one, all] = [`${host}/${owner}/${name} ${run} ${pr.number} ${pr.sha}`, `${host}/${owner}`];
  const known = refusals.of(one, clock());
  if (known !== undefined) return `${known} (as seconds ago)`;
  if (refusals.count(all, clock()) >= REFUSALS_MAX) return "too many of this account were wrong in the last minute";
  const asked = refusals.begin(all, later(clock(), MINUTE_MS));
  const why = await wrongOf(app, key, run, pr);
  if (why === undefined) asked.right();
  else refusals.keep(one, why, later(clock(), REMEMBERED_MS));
  return why;
}

async function wrongOf({ hosts }: App, { org, repo }: QueueKey, run: number, pr: Spoken): Promise<string | undefined> {
  try {
    const found = await hosts(org, repo.host)?.forkRun?.(repo, run, pr.number);
    if (found === undefined) return "the host knows no workflow runs";
    if (found === "NOT_FOUND") return "the repository has no such run";
    if (!found.isOfFork) return "the run is not of a fork's pull request";
    if (!found.isInProgress) return "the run is not in progress";
    if (found.headSha !== commitSha(pr.sha)) return "the run is of another commit";
    return found.isOfHead ? undefined : "the pull request has another head";
  } catch (error) {
    return `the host could not be asked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const principalOf = (org: OrgSlug, run: number): Principal => ({
  org,
  // In a token's place: what is kept under an idempotency key is this run's.
  tokenId: `fork-run-${run}`,
  tokenName: `workflow run ${run} of a fork`,
  scopes: ["submit"],
  enumCase: "upper",
  forkRun: run,
});
