/** A copy of the engine with one thing broken. The engine itself, and what judges it, stay as they are. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** One place of the engine's source, as it is and as it would be wrong. */
export type Edit = { readonly file: string; readonly from: string; readonly to: string };

export type BrokenEngine = { readonly step: string; readonly remove: () => void };

/** `step` is the path of the broken copy's own. An edit that does not fit the source any more is an error. */
export function brokenEngine(edits: readonly Edit[]): BrokenEngine {
  const parent = join(ROOT, ".data/breakages");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "engine-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const name of ["kernel", "queue/engine"])
      cpSync(join(ROOT, "shared", name), join(folder, name), { recursive: true });
    for (const edit of edits) apply(join(folder, "queue/engine", edit.file), edit);
  } catch (error) {
    remove();
    throw error;
  }
  return { step: join(folder, "queue/engine/step.ts"), remove };
}

function apply(path: string, { file, from, to }: Edit): void {
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2)
    throw new Error(`${file} holds this ${parts.length - 1} times and not once: mend the breakage.\n${from}`);
  writeFileSync(path, parts.join(to));
}
