/** The repository's own word on who owns what: the first of three files at the tip of the default branch. */
import type { Place } from "./place.ts";
import { requireRepository, unless } from "./place.ts";

/** In the order in which GitHub looks for them. */
const PLACES = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/** GitHub reads no larger one. */
const BYTES_MAX = 3 * 1024 * 1024;

export async function codeownersOf(place: Place): Promise<string | null> {
  const { ask, at } = place;
  for (const path of PLACES) {
    const found = await unless([404], () => ask("GET /repos/{owner}/{repo}/contents/{path}", { ...at, path }));
    if (found === undefined || Array.isArray(found.data) || found.data.type !== "file") continue;
    const { sha: file_sha } = found.data;
    // A file above a megabyte is only in its blob.
    const { data } = await ask("GET /repos/{owner}/{repo}/git/blobs/{file_sha}", { ...at, file_sha });
    const bytes = Buffer.from(data.content, "base64");
    return bytes.length > BYTES_MAX ? null : bytes.toString("utf8");
  }
  await requireRepository(place);
  return null;
}
