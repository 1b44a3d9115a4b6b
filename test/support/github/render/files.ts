/** A changed file in GitHub's shape; without its patch, as GitHub leaves it out where it is large. */
import type { ChangedFile } from "../content/files.ts";
import type { Shape } from "../shapes/published.ts";
import type { Repository, World } from "../world.ts";
import { api, html } from "./repository.ts";

export function diffEntry(world: World, repo: Repository, sha: string, file: ChangedFile): Shape<"diff-entry"> {
  const path = file.path.split("/").map(encodeURIComponent).join("/");
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: html(world, repo, `/blob/${sha}/${path}`),
    raw_url: html(world, repo, `/raw/${sha}/${path}`),
    contents_url: `${api(world, repo, `/contents/${path}`)}?ref=${sha}`,
    ...(file.formerly === null ? {} : { previous_filename: file.formerly }),
  };
}
