/**
 * Objects and refs of a bare repository as files, in git's own formats. A git process costs what a whole request of the
 * twin costs, so what is simple is read and written here; `undefined` says that git itself has to be asked.
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";

export type Kind = "blob" | "tree" | "commit";

const pathOf = (dir: string, sha: string): string => join(dir, "objects", sha.slice(0, 2), sha.slice(2));

/** Undefined where it is packed, shared with another repository, or nowhere. */
export function readObject(dir: string, sha: string): { readonly kind: string; readonly bytes: Buffer } | undefined {
  try {
    const whole = inflateSync(readFileSync(pathOf(dir, sha)));
    const end = whole.indexOf(0);
    return { kind: whole.toString("utf8", 0, whole.indexOf(32)), bytes: whole.subarray(end + 1) };
  } catch {
    return undefined;
  }
}

export function writeObject(dir: string, kind: Kind, content: string | Buffer): string {
  const bytes = Buffer.from(content);
  const whole = Buffer.concat([Buffer.from(`${kind} ${bytes.length}\0`), bytes]);
  const sha = createHash("sha1").update(whole).digest("hex");
  const path = pathOf(dir, sha);
  mkdirSync(dirname(path), { recursive: true });
  // Under its name only when it is whole: git may look at any time.
  const passing = `${path}.${randomBytes(4).toString("hex")}`;
  writeFileSync(passing, deflateSync(whole, { level: 1 }));
  renameSync(passing, path);
  return sha;
}

export type TreeEntry = { readonly mode: string; readonly sha: string };

function readTree(dir: string, sha: string): Map<string, TreeEntry> | undefined {
  const found = readObject(dir, sha);
  if (found?.kind !== "tree") return undefined;
  const entries = new Map<string, TreeEntry>();
  const { bytes } = found;
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, space);
    const name = bytes.toString("utf8", space + 1, end);
    entries.set(name, { mode: bytes.toString("utf8", at, space), sha: bytes.toString("hex", end + 1, end + 21) });
    at = end + 21;
  }
  return entries;
}

const FOLDER = "40000";
/** Git sorts a folder as if its name ended with a slash. */
const sortedAs = ([name, { mode }]: readonly [string, TreeEntry]): Buffer =>
  Buffer.from(mode === FOLDER ? `${name}/` : name);

function writeTree(dir: string, entries: ReadonlyMap<string, TreeEntry>): string {
  const sorted = [...entries].toSorted((a, b) => Buffer.compare(sortedAs(a), sortedAs(b)));
  const parts = sorted.flatMap(([name, { mode, sha }]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(sha, "hex")]);
  return writeObject(dir, "tree", Buffer.concat(parts));
}

const PLAIN = /^[^/"\\\p{Cc}]+(?:\/[^/"\\\p{Cc}]+)*$/u;

/** The tree with these contents instead; null removes. Undefined where a tree cannot be read or a path is odd. */
export function changedTree(
  dir: string,
  tree: string | undefined,
  files: Readonly<Record<string, string | null>>,
): string | undefined {
  const entries = tree === undefined ? new Map<string, TreeEntry>() : readTree(dir, tree);
  if (entries === undefined) return undefined;
  const under = new Map<string, Record<string, string | null>>();
  for (const [path, content] of Object.entries(files)) {
    if (!PLAIN.test(path) || path.split("/").some((name) => /^\.{1,2}$|^\.git$/iu.test(name))) return undefined;
    const [first = "", ...rest] = path.split("/");
    if (rest.length > 0) under.set(first, { ...under.get(first), [rest.join("/")]: content });
    else if (content === null) entries.delete(first);
    else entries.set(first, { mode: "100644", sha: writeObject(dir, "blob", content) });
  }
  for (const [name, inner] of under) {
    const present = entries.get(name);
    const made = changedTree(dir, present?.mode === FOLDER ? present.sha : undefined, inner);
    if (made === undefined) return undefined;
    if (made === EMPTY_TREE) entries.delete(name);
    else entries.set(name, { mode: FOLDER, sha: made });
  }
  return writeTree(dir, entries);
}

/**
 * What both sides made of a tree, where each entry was changed by one of them and none was removed: whatever else there
 * is, as conflicts and renames, is git's to judge.
 */
export function simplyMergedTree(dir: string, base: string, ours: string, theirs: string): string | undefined {
  if (ours === theirs || base === theirs) return ours;
  if (base === ours) return theirs;
  const [before, one, other] = [base, ours, theirs].map((tree) => readTree(dir, tree));
  if (before === undefined || one === undefined || other === undefined) return undefined;
  if ([...before.keys()].some((name) => !one.has(name) || !other.has(name))) return undefined;
  const merged = new Map(one);
  for (const [name, entry] of other) {
    const [was, mine] = [before.get(name), one.get(name)];
    if (isSame(entry, mine) || isSame(entry, was)) continue;
    if (isSame(mine, was)) {
      merged.set(name, entry);
      continue;
    }
    if (![was, mine, entry].every((side) => side?.mode === FOLDER)) return undefined;
    const inner = simplyMergedTree(dir, was?.sha ?? "", mine?.sha ?? "", entry.sha);
    if (inner === undefined) return undefined;
    merged.set(name, { mode: FOLDER, sha: inner });
  }
  return writeTree(dir, merged);
}

const isSame = (a: TreeEntry | undefined, b: TreeEntry | undefined): boolean =>
  a?.sha === b?.sha && a?.mode === b?.mode;

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const SIMPLE_REF = /^refs\/(?:heads|tags|pull)\/[A-Za-z0-9][A-Za-z0-9_-]*(?:\/[A-Za-z0-9][A-Za-z0-9_-]*)*$/u;

/** Whether git certainly takes it as a name. */
export const isSimpleRef = (ref: string): boolean => SIMPLE_REF.test(ref);

/**
 * Under git's own lock; false where it is not at `from`, all zeros for nowhere. Undefined: git has to be asked, who knows
 * what is in the way.
 */
export function writeRef(dir: string, ref: string, sha: string, from?: string): boolean | undefined {
  // What is packed lies elsewhere.
  if (!isSimpleRef(ref) || (from !== undefined && existsSync(join(dir, "packed-refs")))) return undefined;
  const path = join(dir, ref);
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(`${path}.lock`, "wx"));
  } catch {
    return undefined;
  }
  try {
    const present = existsSync(path) ? readFileSync(path, "utf8").trim() : "0".repeat(40);
    if (from !== undefined && present !== from) return false;
    writeFileSync(`${path}.lock`, `${sha}\n`);
    renameSync(`${path}.lock`, path);
    return true;
  } catch {
    return undefined;
  } finally {
    rmSync(`${path}.lock`, { force: true });
  }
}

/** Undefined: git has to be asked. */
export function removeLoose(dir: string, ref: string): true | undefined {
  const path = join(dir, ref);
  if (!isSimpleRef(ref) || existsSync(join(dir, "packed-refs"))) return undefined;
  try {
    closeSync(openSync(`${path}.lock`, "wx"));
  } catch {
    return undefined;
  }
  try {
    rmSync(path);
    return true;
  } catch {
    return undefined;
  } finally {
    rmSync(`${path}.lock`, { force: true });
  }
}

/** As `git init --bare` does, without the samples that nobody reads. */
export function initBare(dir: string, branch: string): void {
  for (const one of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
    mkdirSync(join(dir, one), { recursive: true });
  writeFileSync(join(dir, "HEAD"), `ref: refs/heads/${branch}\n`);
  writeFileSync(join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n");
}
