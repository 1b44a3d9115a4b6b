/** Branches and tags, read as files: they are asked for before every request, and a git process each time is slow. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const NAME = /^[0-9a-f]{40}$/u;

export function readRefs(dir: string): ReadonlyMap<string, string> {
  const found = new Map(packed(dir));
  for (const folder of ["refs/heads", "refs/tags"])
    for (const entry of readdirSync(join(dir, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith(".lock")) continue;
      const path = join(entry.parentPath, entry.name);
      const sha = read(path)?.trim() ?? "";
      if (NAME.test(sha)) found.set(relative(dir, path), sha);
    }
  return found;
}

function packed(dir: string): readonly (readonly [string, string])[] {
  const lines = (read(join(dir, "packed-refs")) ?? "").split("\n");
  return lines
    .map((line) => [line.slice(41), line.slice(0, 40)] as const)
    .filter(([ref, sha]) => NAME.test(sha) && /^refs\/(?:heads|tags)\//u.test(ref));
}

/** It may be gone by now: somebody deletes branches while they are looked at. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
