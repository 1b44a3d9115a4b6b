/** A pull request as the queue sees it: a ref, its tip commit, and what `npm run pr` and landing wrote down. */
import { pathToFileURL } from "node:url";
import type { CommitSha } from "../../kernel/ids.ts";
import type { OwnEvidence, PullRequestFacts, StatusCheck } from "../../queue/engine/types.ts";
import { type Merged, mergeCommits, pathsInWords } from "./merge.ts";
import { headRef, isBranchName, OWN_BRANCHES } from "./names.ts";
import { type Commit, isAncestor, readCommit } from "./objects.ts";
import { readMergedHead, readPull } from "./pulls.ts";
import { defaultBranch, readRefs } from "./refs.ts";
import type { Repository } from "./repository.ts";

const MOST_REMEMBERED = 5_000;

/** Commits never change, so neither does how two of them merge: the queue asks for the same pairs again and again. */
export type Judgements = Map<string, Merged>;

/** What is known beside the repository. */
export type Known = {
  readonly judgements: Judgements;
  /** What runs of exactly this commit have reported; undefined where none has. */
  readonly statusesOf: (head: CommitSha) => Promise<readonly StatusCheck[] | undefined>;
};

export async function readPullRequest(
  repo: Repository,
  prNumber: number,
  targetBranch: string,
  known: Known,
): Promise<PullRequestFacts | "NOT_FOUND"> {
  if (!Number.isSafeInteger(prNumber) || prNumber < 1) return "NOT_FOUND";
  const refs = await readRefs(repo, ["refs/heads", headRef(prNumber)]);
  const head = refs.get(headRef(prNumber));
  const commit = head === undefined ? undefined : await readCommit(repo.objects, head);
  if (head === undefined || commit === undefined) return "NOT_FOUND";
  const pull = await readPull(repo.dir, prNumber);
  const merged = (await readMergedHead(repo.dir, prNumber)) === head;
  const tip = isBranchName(targetBranch) ? refs.get(`refs/heads/${targetBranch}`) : undefined;
  return {
    number: prNumber,
    state: merged ? "MERGED" : pull.state === "closed" ? "CLOSED" : "OPEN",
    draft: pull.draft,
    title: commit.subject || `Pull request ${prNumber}`,
    url: `${pathToFileURL(repo.dir).href}#${headRef(prNumber)}`,
    author: commit.author,
    headSha: head,
    headBranch: headBranch(refs, head, prNumber),
    baseBranch: pull.base ?? (await presentDefault(repo, refs)) ?? targetBranch,
    fromFork: false,
    ...(await judge(repo, tip, head, targetBranch, known.judgements)),
    ...(await ownEvidence(repo, tip, head, commit, known)),
  };
}

/** Asked of few: only what a run has tested is worth a look at its history. */
async function ownEvidence(
  repo: Repository,
  tip: CommitSha | undefined,
  head: CommitSha,
  { tree }: Commit,
  { statusesOf }: Known,
): Promise<{ readonly own?: OwnEvidence }> {
  const statuses = tip === undefined ? undefined : await statusesOf(head);
  if (tip === undefined || statuses === undefined || !(await isAncestor(repo.objects, tip, head))) return {};
  return { own: { tip, tree, statuses } };
}

/** HEAD of a new bare repository often names a branch that nobody ever pushed; that says nothing. */
async function presentDefault(repo: Repository, refs: ReadonlyMap<string, CommitSha>): Promise<string | undefined> {
  const branch = await defaultBranch(repo);
  return branch !== undefined && refs.has(`refs/heads/${branch}`) ? branch : undefined;
}

function headBranch(refs: ReadonlyMap<string, CommitSha>, head: CommitSha, prNumber: number): string {
  const branches = [...refs]
    .filter(([ref, sha]) => sha === head && ref.startsWith("refs/heads/") && !ref.startsWith(OWN_BRANCHES))
    .map(([ref]) => ref.slice("refs/heads/".length));
  const [only] = branches;
  return branches.length === 1 && only !== undefined ? only : `pull/${prNumber}`;
}

async function judge(
  repo: Repository,
  tip: CommitSha | undefined,
  head: CommitSha,
  targetBranch: string,
  judgements: Judgements,
): Promise<Pick<PullRequestFacts, "mergeability" | "judgedOn" | "obstacle">> {
  if (tip === undefined) return { mergeability: "UNSPECIFIED", judgedOn: null, obstacle: null };
  const pair = `${repo.dir} ${tip} ${head}`;
  const merged = judgements.get(pair) ?? (await repo.aside((git) => mergeCommits(git, tip, head)));
  remember(judgements, pair, merged);
  if (merged.kind === "CLEAN") return { mergeability: "MERGEABLE", judgedOn: tip, obstacle: null };
  const obstacle =
    merged.kind === "UNRELATED"
      ? `its history has no commit in common with ${targetBranch}`
      : `it conflicts with ${targetBranch} in ${pathsInWords(merged.paths)}`;
  return { mergeability: "NOT_MERGEABLE", judgedOn: tip, obstacle };
}

function remember(judgements: Judgements, pair: string, merged: Merged): void {
  judgements.delete(pair);
  judgements.set(pair, merged);
  const oldest = judgements.keys().next();
  if (judgements.size > MOST_REMEMBERED && oldest.done !== true) judgements.delete(oldest.value);
}
