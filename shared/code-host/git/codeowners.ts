/** The repository's own word on who owns what: the first of three files at the tip of the default branch. */
import { readObjects } from "./objects.ts";
import type { Repository } from "./repository.ts";

/** In the order in which GitHub looks for them. */
const PLACES = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/** A bare repository that was made by hand may have a HEAD that leads nowhere. */
const BRANCHES = ["HEAD", "refs/heads/main", "refs/heads/master"];
/** GitHub reads no larger one. */
const MOST_BYTES = 3 * 1024 * 1024;

export async function codeownersOf({ objects }: Repository): Promise<string | null> {
  const names = BRANCHES.flatMap((branch) => PLACES.map((path) => `${branch}:${path}`));
  const found = await readObjects(objects, names, names.length * (MOST_BYTES + 200));
  const file = found.find((one) => one?.type === "blob" && one.body.length <= MOST_BYTES);
  return file === undefined ? null : file.body.toString("utf8");
}
