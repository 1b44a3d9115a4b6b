/** Two commits beside each other. */
import { commit, countBetween, mergeBase, range, resolve } from "../content/commits.ts";
import { changedFiles } from "../content/files.ts";
import { type Answer, notFound, ok, type RepositoryCall, type Route } from "../http/call.ts";
import { commitShape } from "../render/commits.ts";
import { diffEntry } from "../render/files.ts";
import { api, html } from "../render/repository.ts";

const FILES_MOST = 300;

function statusOf(ahead: number, behind: number): string {
  if (ahead > 0) return behind > 0 ? "diverged" : "ahead";
  return behind > 0 ? "behind" : "identical";
}

async function compare(call: RepositoryCall): Promise<Answer> {
  const { world, repo, params, query } = call;
  const basehead = params["basehead"] ?? "";
  const [baseName = "", headName = ""] = basehead.split("...");
  const [base, head] = await Promise.all(
    [baseName, headName].map((name) => resolve(repo.git, name.replace(/^.*:/u, ""))),
  );
  if (base === undefined || head === undefined) throw notFound();
  const from = await mergeBase(repo.git, base, head);
  if (from === undefined) throw notFound();
  const commits = await range(repo.git, base, head, ["--topo-order"]);
  const behind = await countBetween(repo.git, head, base);
  const per = Math.min(250, Number(query.get("per_page") ?? 250) || 250);
  const at = Math.max(1, Number(query.get("page") ?? 1) || 1);
  const files = at === 1 ? await changedFiles(repo.git, base, head) : [];
  const page = html(world, repo, `/compare/${basehead}`);
  return ok({
    url: api(world, repo, `/compare/${basehead}`),
    html_url: page,
    permalink_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base_commit: commitShape(world, repo, await commit(repo.git, base)),
    merge_base_commit: commitShape(world, repo, await commit(repo.git, from)),
    status: statusOf(commits.length, behind),
    ahead_by: commits.length,
    behind_by: behind,
    total_commits: commits.length,
    commits: commits.slice((at - 1) * per, at * per).map((one) => commitShape(world, repo, one)),
    files: files.slice(0, FILES_MOST).map((file) => diffEntry(world, repo, head, file)),
  });
}

export const compareRoutes: readonly Route[] = [
  {
    operation: "GET /repos/{owner}/{repo}/compare/{basehead}",
    as: "REPOSITORY",
    needs: { permission: "contents", level: "read" },
    handle: compare,
  },
];
