/** A draft pull request of a testing branch makes the workflows run that the repository has for pull requests. */
import { oneLine } from "../git/names.ts";
import type { BuildRequest } from "../port.ts";
import { Answered } from "./client.ts";
import type { Place } from "./place.ts";

/** Its number; null where none is wanted, or where there is nothing to show. */
export async function draftPullRequest(place: Place, request: BuildRequest): Promise<number | null> {
  const { branch, opensDraft = false } = request;
  if (!opensDraft) return null;
  try {
    return await open(place, request, true);
  } catch (error) {
    if (!(error instanceof Answered) || error.status !== 422) throw error;
    // An earlier attempt opened it, and died before it could say so.
    if (/already exists/iu.test(error.said)) return find(place, branch);
    // Some plans have no drafts of private repositories.
    if (/draft/iu.test(error.said)) return open(place, request, false);
    // The branch contains nothing that the target has not.
    if (/no commits between/iu.test(error.said)) return null;
    throw error;
  }
}

async function open({ ask, at }: Place, request: BuildRequest, draft: boolean): Promise<number> {
  const base = request.targetBranch;
  const numbers = request.changes.map((change) => `#${change.prNumber}`).join(", ");
  const isTip = numbers === "";
  const { data } = await ask("POST /repos/{owner}/{repo}/pulls", {
    ...at,
    title: oneLine(`[Mainline] Testing ${isTip ? base : `${numbers} on ${base}`}`, 200),
    head: request.branch,
    base,
    draft,
    body:
      (isTip
        ? "Mainline's merge queue tests the target branch here, as it is.\n\n"
        : `Mainline's merge queue tests ${numbers} here, together with what is ahead of it in the queue.\n\n`) +
      "It closes by itself when the test has ended. Do not merge it.",
  });
  return data.number;
}

async function find({ ask, at }: Place, branch: string): Promise<number | null> {
  const { data } = await ask("GET /repos/{owner}/{repo}/pulls", {
    ...at,
    head: `${at.owner}:${branch}`,
    state: "open",
    per_page: 1,
  });
  return data[0]?.number ?? null;
}
