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

type App = Pick<Wiring, "queues" | "hosts" | "installations" | "refusals" | "clock" | "log" | "gitHub">;

/** The rest of the body is read once it is known who sends it. */
const asking = queueRef.extend({ pr: z.looseObject({ number: prNumber, sha }) });

type Spoken = { readonly number: number; readonly sha: string };

const REMEMBERED_MS = 30 * SECOND_MS;

/**
 * Wrong ones in a minute: by one address about one account, by all addresses about it, and beyond that by addresses that
 * were not wrong yet. So nobody shuts others out from one address, and together they take at most 30 questions, of two
 * reads each, of what GitHub lets an account's people and forks read. Given up: whoever has a dozen addresses shuts out
 * the rest for that minute, since without an end they would use up all of it, and the forks' part with it; those who
 * share an address, as behind a proxy, share its part; and each process counts for itself.
 */
const OF_ADDRESS_MAX = 10;
const OF_ACCOUNT_MAX = 20;
const KEPT_FOR_OTHERS = 10;

export const forkDoor = (app: () => App): ForkDoor => ({
  isOpen: () => app().gitHub !== undefined,
  admit: async (asked) => {
    const judged = await judge(app(), asked);
    if (typeof judged !== "string") return judged;
    app().log.warn("a fork's workflow was not let in", { requestId: asked.requestId, run: asked.run, why: judged });
    return undefined;
  },
});

/** The principal, or why there is none. */
async function judge(app: App, asks: ForkAsks): Promise<Principal | string> {
  const read = asking.safeParse(asks.body);
  if (!read.success) return "its body names no queue, or no whole commit as pr.sha";
  const { repo: named, targetBranch: branch, pr } = read.data;
  const repo = repoKey(named);
  const installation = await app.installations.onAccount(repo.host, repo.owner);
  if (installation === undefined) return "the account is not linked";
  const key: QueueKey = { org: installation.org, repo, branch };
  if ((await app.queues.find(key)) === undefined) return "there is no such queue";
  const why = await remembered(app, key, asks, pr);
  return why ?? principalOf(installation.org, asks.run);
}

/** Undefined: it is right, which is asked anew each time, since a run ends. */
async function remembered(app: App, key: QueueKey, asks: ForkAsks, pr: Spoken): Promise<string | undefined> {
  const { refusals, clock } = app;
  const { run, address } = asks;
  const { host, owner, name } = key.repo;
  const one = `${host}/${owner}/${name} ${run} ${pr.number} ${pr.sha}`;
  const [all, own] = [`${host}/${owner}`, `${host}/${owner} ${address}`];
  const known = refusals.of(one, clock());
  if (known !== undefined) return `${known} (as seconds ago)`;
  const many = tooMany(refusals.count(own, clock()), refusals.count(all, clock()));
  if (many !== undefined) return `too many ${many} were wrong in the last minute`;
  const questions = [all, own].map((group) => refusals.begin(group, later(clock(), MINUTE_MS)));
  const why = await wrongOf(app, key, run, pr);
  if (why === undefined) for (const question of questions) question.right();
  else refusals.keep(one, why, later(clock(), REMEMBERED_MS));
  return why;
}

function tooMany(ofAddress: number, ofAccount: number): string | undefined {
  if (ofAddress >= OF_ADDRESS_MAX) return "from this address";
  const most = ofAddress === 0 ? OF_ACCOUNT_MAX + KEPT_FOR_OTHERS : OF_ACCOUNT_MAX;
  return ofAccount >= most ? "of this account" : undefined;
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
