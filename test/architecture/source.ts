/** The source tree as the architecture tests read it: files, their imports, their lines. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type Import = {
  /** As written. */
  readonly specifier: string;
  /** The file it names, from the root; undefined for packages and `node:` modules. */
  readonly file: string | undefined;
  readonly typeOnly: boolean;
};

export type Source = { readonly path: string; readonly text: string; readonly imports: readonly Import[] };

// Static and dynamic imports and re-exports with a literal specifier; `import type` is told apart.
const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|import\(\s*"([^"]+)"\s*\)/gu;

function importsOf(path: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const specifier = match[2] ?? match[3] ?? "";
    const file = specifier.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), specifier)) : undefined;
    return { specifier, file, typeOnly: match[1] !== undefined };
  });
}

export function sourcesUnder(...folders: readonly string[]): readonly Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name))
      .sort()
      .map((path) => {
        const text = readFileSync(join(ROOT, path), "utf8");
        return { path, text, imports: importsOf(path, text) };
      }),
  );
}
