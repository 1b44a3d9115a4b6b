/**
 * What `npm run pr` says about a pull request, and what landing says: one small file each inside the bare repository
 * (`<repo>.git/mainline/`), out of reach of `git push`, replaced atomically. Two files because they have two writers.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";

const pullSchema = z.object({
  state: z.enum(["open", "closed"]).default("open"),
  draft: z.boolean().default(false),
  base: z.string().nullable().default(null),
});
/** `base` is null where the repository's default branch is meant. */
export type Pull = z.infer<typeof pullSchema>;

const mergedSchema = z.object({ head: z.string() });

export const pullsFolder = (dir: string): string => join(dir, "mainline", "pulls");
const pullPath = (dir: string, prNumber: number): string => join(pullsFolder(dir), `${prNumber}.json`);
const mergedPath = (dir: string, prNumber: number): string => join(dir, "mainline", "merged", `${prNumber}.json`);

/** An absent or damaged file means the defaults: open, no draft, into the default branch. */
export async function readPull(dir: string, prNumber: number): Promise<Pull> {
  return parsed(await readText(pullPath(dir, prNumber)), pullSchema) ?? pullSchema.parse({});
}

export const writePull = (dir: string, prNumber: number, pull: Pull): Promise<void> =>
  replaceFile(pullPath(dir, prNumber), `${JSON.stringify(pull)}\n`);

/** The head that was landed, if one was. A PR counts as merged while that is still its head. */
export async function readMergedHead(dir: string, prNumber: number): Promise<string | undefined> {
  return parsed(await readText(mergedPath(dir, prNumber)), mergedSchema)?.head;
}

export const writeMergedHead = (dir: string, prNumber: number, head: string): Promise<void> =>
  replaceFile(mergedPath(dir, prNumber), `${JSON.stringify({ head })}\n`);

export const forgetMerged = (dir: string, prNumber: number): Promise<void> =>
  rm(mergedPath(dir, prNumber), { force: true });

const readText = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

function parsed<T>(text: string | undefined, schema: z.ZodType<T>): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  const next = `${path}.${randomBytes(6).toString("hex")}.new`;
  await writeFile(next, text);
  await rename(next, path);
}
