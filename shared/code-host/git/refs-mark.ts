/** Whether any ref can have moved since the last look, told from files: to start git for each repository costs more. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** More files than this are read sooner by git. */
const FILES_MAX = 200;
/** A file written so lately may be written again without another time of its last change. */
const SETTLED_MS = 2_000;

/**
 * Differs whenever a branch or a pull request's ref was written. Undefined where only git can tell: many refs, refs that
 * are not kept as files, refs written a moment ago.
 */
export async function refsMark(dir: string): Promise<string | undefined> {
  const now = Date.now();
  if ((await stampOf(join(dir, "reftable"))) !== undefined) return undefined;
  const files = ["packed-refs"];
  for (const folder of ["refs/heads", "refs/pull"]) {
    const found = await readdir(join(dir, folder), { recursive: true }).catch(() => []);
    files.push(folder, ...found.map((file) => join(folder, file)));
  }
  if (files.length > FILES_MAX) return undefined;
  const stamps = await Promise.all(files.map(async (file) => ({ file, stamp: await stampOf(join(dir, file)) })));
  if (stamps.some(({ stamp }) => stamp !== undefined && stamp.at > now - SETTLED_MS)) return undefined;
  return stamps.map(({ file, stamp }) => `${file} ${stamp?.text ?? ""}`).join("\n");
}

async function stampOf(path: string) {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return undefined;
  return { at: Number(found.mtimeMs), text: `${found.ino} ${found.mtimeNs} ${found.size}` };
}
