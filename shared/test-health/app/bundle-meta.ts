import * as z from "zod";

/*
 * `meta.json` of a bundle, as upload clients write it. What is not named here is left out, and what older clients leave
 * out, or write as null, has a value that says so.
 */

const textOrNone = z
  .string()
  .nullish()
  .transform((text) => text ?? "");

const fileSchema = z.object({
  /** Where the report was on the machine that made it. */
  original_path: textOrNone,
  /** Where it is in the bundle. */
  path: z.string().min(1),
  /** Of the report's own path, as the client read them; those of its tests are ours to find. */
  owners: z
    .array(z.string())
    .nullish()
    .transform((owners) => owners ?? []),
});

const fileSetSchema = z.object({
  /** "Junit" in all clients; newer ones add sets in a format of their own. */
  file_set_type: z
    .string()
    .nullish()
    .transform((type) => type ?? "Junit"),
  files: z
    .array(fileSchema)
    .nullish()
    .transform((files) => files ?? []),
});

const metaSchema = z.object({
  /** The organization's slug. */
  org: z.string().min(1),
  repo: z.object({
    repo: z.object({ host: z.string().min(1), owner: z.string().min(1), name: z.string().min(1) }),
    repo_head_sha: textOrNone,
    repo_head_branch: textOrNone,
  }),
  file_sets: z.array(fileSetSchema),
  /** What the CI says of the run in its environment. */
  envs: z
    .record(z.string(), z.string())
    .nullish()
    .transform((envs) => envs ?? {}),
  variant: textOrNone,
  /** Seconds since the epoch, null when it is not said. */
  upload_time_epoch: z
    .number()
    .nonnegative()
    .nullish()
    .transform((at) => at ?? null),
  /** Where the file of that name was, null when there was none. */
  codeowners: z
    .object({ path: textOrNone })
    .nullish()
    .transform((codeowners) => codeowners ?? null),
});

export type BundleMeta = z.infer<typeof metaSchema>;

/** The first few problems say enough. */
const PROBLEMS_MAX = 3;

/** Reads `meta.json`; a sentence when it cannot be read. */
export function readBundleMeta(bytes: Uint8Array): BundleMeta | string {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return "meta.json is no JSON.";
  }
  const read = metaSchema.safeParse(json);
  if (read.success) return read.data;
  const problems = read.error.issues
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${path.map(String).join(".") || "all of it"}: ${message}`);
  return `meta.json cannot be used: ${problems.join("; ").slice(0, 500)}.`;
}
