/** Branches and tags, read as files: they are asked for before every request, and a git process each time is slow. */
import type { Git } from "../git.ts";
import { removeLoose, writeRef } from "../objects.ts";
import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Wherever it points. */
export async function setRef(git: Git, ref: string, sha: string): Promise<void> {
  if (writeRef(git.dir, ref, sha) !== true) await git.must(["update-ref", ref, sha]);
}

/** From where it is said to be, zeros for nowhere. False: it was elsewhere, or cannot be there. */
export async function moveRef(git: Git, ref: string, sha: string, from: string): Promise<boolean> {
  return writeRef(git.dir, ref, sha, from) ?? (await git.run(["update-ref", ref, sha, from])).code === 0;
}

export async function removeRef(git: Git, ref: string): Promise<void> {
  if (removeLoose(git.dir, ref) !== true) await git.must(["update-ref", "-d", ref]);
}

const NAME = /^[0-9a-f]{40}$/u;

/** Loose before packed: what is packed meanwhile is in the one or the other, and the loose one is the newer. */
export function readRefs(dir: string): ReadonlyMap<string, string> {
  const loose = ["refs/heads", "refs/tags"].flatMap((folder) => looseUnder(dir, join(dir, folder)));
  return new Map([...packed(dir), ...loose]);
}

type Ref = readonly [string, string];

function looseUnder(dir: string, folder: string): readonly Ref[] {
  return entries(folder).flatMap((entry): readonly Ref[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return looseUnder(dir, path);
    const sha = entry.name.endsWith(".lock") ? "" : read(path).trim();
    return NAME.test(sha) ? [[relative(dir, path), sha]] : [];
  });
}

function packed(dir: string): readonly Ref[] {
  return read(join(dir, "packed-refs"))
    .split("\n")
    .map((line): Ref => [line.slice(41), line.slice(0, 40)])
    .filter(([ref, sha]) => NAME.test(sha) && /^refs\/(?:heads|tags)\//u.test(ref));
}

/** Files and folders may be gone by now: somebody deletes branches while they are looked at. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function entries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
