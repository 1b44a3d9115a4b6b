/** What GitHub says of a pull request, as the queue reads it. */
import { commitSha, type CommitSha } from "../../kernel/ids.ts";
import type { OwnEvidence, PullRequestFacts } from "../../queue/engine/types.ts";
import { oneLine } from "../git/names.ts";
import type { Ask } from "./client.ts";
import { branchSha, compare, pathsInBoth, type Place, readCommit, requireRepository, unless } from "./place.ts";
import { expectedSources } from "./required.ts";
import { resultsOf, shownOf } from "./results.ts";

type Pull = Awaited<ReturnType<typeof readPull>>;
type Found = NonNullable<Pull>;

export const readPull = async ({ ask, at }: Place, prNumber: number) =>
  (await unless([404], () => getPull(ask, { ...at, pull_number: prNumber })))?.data;

const getPull = (ask: Ask, asked: { owner: string; repo: string; pull_number: number }) =>
  ask("GET /repos/{owner}/{repo}/pulls/{pull_number}", asked);

export async function readPullRequest(
  place: Place,
  prNumber: number,
  targetBranch: string,
): Promise<PullRequestFacts | "NOT_FOUND"> {
  // Before the pull request: should the target move in between, GitHub has judged on a later tip than is said here.
  const tip = await branchSha(place, targetBranch);
  const pull = await readPull(place, prNumber);
  if (pull === undefined) {
    await requireRepository(place);
    return "NOT_FOUND";
  }
  const { user, head, base } = pull;
  const login = user.login;
  const facts = {
    number: pull.number,
    state: pull.merged ? "MERGED" : pull.state === "open" ? "OPEN" : "CLOSED",
    draft: pull.draft ?? false,
    title: oneLine(pull.title),
    url: pull.html_url,
    author: { name: login, email: `${user.id}+${login}@users.noreply.github.com` },
    headSha: commitSha(head.sha),
    headBranch: head.ref,
    baseBranch: base.ref,
    fromFork: isFromFork({ base, head }),
  } as const;
  const isJudged = facts.state === "OPEN" && base.ref === targetBranch && tip !== undefined;
  if (!isJudged) return { ...facts, mergeability: "UNSPECIFIED", judgedOn: null, obstacle: null };
  const judged = await judge(place, pull, tip);
  const own =
    judged.mergeability === "NOT_MERGEABLE" ? null : await ownEvidence(place, facts.headSha, tip, targetBranch);
  return { ...facts, ...judged, own };
}

export type Ends = { readonly [End in "base" | "head"]: { readonly repo: { readonly id: number | bigint } | null } };

/** A fork that has been deleted since has no repository, although the published shape says that it is always there. */
export const isFromFork = ({ base, head }: Ends): boolean => head.repo?.id !== base.repo?.id;

type Judged = Pick<PullRequestFacts, "mergeability" | "judgedOn" | "obstacle">;

/** Mergeability is worked out after somebody asks: until then nothing is known. */
async function judge(place: Place, pull: Found, tip: CommitSha): Promise<Judged> {
  if (pull.mergeable === null) return { mergeability: "IN_PROGRESS", judgedOn: tip, obstacle: null };
  if (!pull.mergeable) {
    const paths = await pathsInBoth(place, pull.head.sha, tip);
    const where = paths.length === 0 ? "" : `: both change ${paths.slice(0, 10).join(", ")}`;
    return { mergeability: "NOT_MERGEABLE", judgedOn: tip, obstacle: `it conflicts with ${pull.base.ref}${where}` };
  }
  if (pull.mergeable_state === "blocked" && pull.draft !== true)
    return {
      mergeability: "NOT_MERGEABLE",
      judgedOn: tip,
      obstacle: `the rules of ${pull.base.ref} do not let it be merged yet: a review or a required check is missing`,
    };
  return { mergeability: "MERGEABLE", judgedOn: tip, obstacle: null };
}

/** What CI says of the head itself counts where the head contains the target. */
async function ownEvidence(
  place: Place,
  head: CommitSha,
  tip: CommitSha,
  targetBranch: string,
): Promise<OwnEvidence | null> {
  const compared = await compare(place, tip, head);
  if (compared === undefined || compared.behind > 0) return null;
  const results = await resultsOf(place, head, await expectedSources(place, targetBranch));
  if (results.length === 0) return null;
  const commit = await readCommit(place, head);
  return commit === undefined ? null : { tip, tree: commit.tree, statuses: results.map(shownOf) };
}
