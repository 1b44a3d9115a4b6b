/** The function files as they are deployed: one folder for each, with all that it needs in one file. */
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Metafile } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["api", "workers"] as const;

export type Bundle = {
  readonly folder: (typeof FOLDERS)[number];
  /** The function's, and its file's. */
  readonly id: string;
  /** What is deployed: `index.mjs` with the handler, and its map. */
  readonly path: string;
  readonly bytes: number;
  /** The files that something of it came from, from the root, and the bytes of each. */
  readonly inputs: ReadonlyMap<string, number>;
  /** What it asks the place where it runs for. */
  readonly asks: readonly string[];
};

/** Some packages are CommonJS inside and ask for `node:` modules by `require`, which a module of today lacks. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Ways in which people and other machines get credentials. A function has its own in its environment, where the SDK
 * looks first; these would be a sixth of every bundle, and are never loaded.
 */
export const LEFT_OUT = [
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
];

/** As all bundles are made, those that others are compared with too. */
export const BUNDLING = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  // The SDK has both: its modules leave out what nobody uses.
  mainFields: ["module", "main"],
  minify: true,
  sourcemap: true,
  // Names and lines are what a stack trace shows.
  sourcesContent: false,
  legalComments: "none",
  banner: { js: REQUIRE },
  outExtension: { ".js": ".mjs" },
  metafile: true,
  logLevel: "warning",
} satisfies BuildOptions;

type Entry = Pick<Bundle, "folder" | "id">;

const entries = (): readonly Entry[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, "functions", folder))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => ({ folder, id: name.slice(0, -".ts".length) })),
  );

/** Builds every function into `<outDir>/<folder>/<id>/index.mjs`. */
export async function bundleFunctions(outDir: string): Promise<readonly Bundle[]> {
  const all = entries();
  const { metafile } = await build({
    ...BUNDLING,
    entryPoints: all.map(({ folder, id }) => ({
      in: join(ROOT, "functions", folder, `${id}.ts`),
      out: `${folder}/${id}/index`,
    })),
    outdir: outDir,
    external: LEFT_OUT,
  });
  return all.map((entry) => bundleOf(entry, outDir, metafile));
}

function bundleOf({ folder, id }: Entry, outDir: string, { outputs }: Metafile): Bundle {
  const path = join(outDir, folder, id);
  const output = outputs[relative(ROOT, join(path, "index.mjs"))];
  if (output === undefined) throw new Error(`functions/${folder}/${id}.ts was not bundled`);
  const inputs = Object.entries(output.inputs).map(([file, { bytesInOutput }]) => [file, bytesInOutput] as const);
  const asks = output.imports.filter(({ external }) => external === true).map(({ path: asked }) => asked);
  return { folder, id, path, bytes: output.bytes, inputs: new Map(inputs), asks };
}
