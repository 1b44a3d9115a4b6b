/** The repository's own word on who owns what: the first of three files at the tip of the default branch. */
import { readObjects } from "./objects.ts";
import { defaultBranch, readRef } from "./refs.ts";
import type { Repository } from "./repository.ts";

/** In the order in which GitHub looks for them. */
const PLACES = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/** GitHub reads no larger one. */
const MOST_BYTES = 3 * 1024 * 1024;
/** A bare repository that was made by hand may have a HEAD that leads nowhere. */
const USUAL = ["refs/heads/main", "refs/heads/master"];

export async function codeownersOf(repo: Repository): Promise<string | null> {
  const head = await defaultBranch(repo);
  for (const ref of [...(head === undefined ? [] : [`refs/heads/${head}`]), ...USUAL]) {
    const tip = await readRef(repo, ref);
    if (tip === undefined) continue;
    const names = PLACES.map((path) => `${tip}:${path}`);
    const found = await readObjects(repo.objects, names, names.length * (MOST_BYTES + 200));
    const file = found.find((one) => one?.type === "blob" && one.body.length <= MOST_BYTES);
    return file === undefined ? null : file.body.toString("utf8");
  }
  return null;
}
