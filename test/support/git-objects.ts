/**
 * The objects and refs of a repository on disk, read and written without a process: what lies there as git leaves it
 * between two packings. For what is packed, and for what another holds, git itself is asked.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { runGit } from "./git-starter.ts";

export type Format = "sha1" | "sha256";
type ObjectType = "blob" | "tree" | "commit";

/** A file, or a folder that was not looked into yet. */
type Entry = { readonly mode: string; readonly id: string };
/** Names are bytes, one a character: the order of a tree is theirs. */
type Folder = Map<string, Entry | Folder>;

const FOLDER = "40000";
const FILE = "100644";

const existing = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
};

/** In place at once: nobody reads half of it. `meanwhile` must not be there. */
function put(file: string, content: Buffer | string, meanwhile: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(meanwhile, content, { flag: "wx" });
  renameSync(meanwhile, file);
}

/** As `git init --bare` makes one, without the samples. */
export function initialize(dir: string, format: Format): void {
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"])
    mkdirSync(join(dir, folder), { recursive: true });
  const isPlain = format === "sha1";
  const extensions = isPlain ? "" : `[extensions]\n\tobjectformat = ${format}\n`;
  const core = `[core]\n\trepositoryformatversion = ${isPlain ? 0 : 1}\n\tfilemode = true\n\tbare = true\n`;
  writeFileSync(join(dir, "config"), `${core}${extensions}`);
  writeFileSync(join(dir, "HEAD"), "ref: refs/heads/main\n");
}

export const formatOf = (dir: string): Format =>
  /^\s*objectformat\s*=\s*sha256\s*$/imu.test(readFileSync(join(dir, "config"), "utf8")) ? "sha256" : "sha1";

const fileOf = (dir: string, id: string): string => join(dir, "objects", id.slice(0, 2), id.slice(2));

function contentOf(dir: string, type: ObjectType, id: string): Buffer {
  const loose = existing(fileOf(dir, id));
  if (loose === undefined) return runGit([`--git-dir=${dir}`, "cat-file", type, id]);
  const object = inflateSync(loose);
  const end = object.indexOf(0);
  if (!object.toString("latin1", 0, end).startsWith(`${type} `)) throw new Error(`${id} is no ${type}`);
  return object.subarray(end + 1);
}

function add(dir: string, format: Format, type: ObjectType, content: Buffer): string {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(format).update(object).digest("hex");
  put(fileOf(dir, id), deflateSync(object, { level: 1 }), join(dir, "objects", `tmp_obj_${id}_${process.pid}`));
  return id;
}

function folderOf(dir: string, tree: string): Folder {
  const content = contentOf(dir, "tree", tree);
  const bytes = tree.length / 2;
  const folder: Folder = new Map();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(" ", at);
    const end = content.indexOf(0, space);
    const id = content.toString("hex", end + 1, end + 1 + bytes);
    folder.set(content.toString("latin1", space + 1, end), { mode: content.toString("latin1", at, space), id });
    at = end + 1 + bytes;
  }
  return folder;
}

const segments = (path: string): string[] => Buffer.from(path).toString("latin1").split("/");

/** The folder of that name, looked into, or none. */
function inside(dir: string, folder: Folder, name: string): Folder | undefined {
  const entry = folder.get(name);
  if (entry === undefined || entry instanceof Map) return entry;
  if (entry.mode !== FOLDER) return undefined;
  const opened = folderOf(dir, entry.id);
  folder.set(name, opened);
  return opened;
}

/** An entry at a path, in the place of what is in its way; null removes what is there. */
function change(dir: string, root: Folder, path: string, entry: Entry | null): void {
  const names = segments(path);
  const last = names.pop() ?? "";
  let folder = root;
  for (const name of names) {
    let next = inside(dir, folder, name);
    if (next === undefined && entry === null) return;
    if (next === undefined) folder.set(name, (next = new Map()));
    folder = next;
  }
  if (entry === null) folder.delete(last);
  else folder.set(last, entry);
}

function addFolder(dir: string, format: Format, folder: Folder): string {
  const entries = [...folder]
    .filter(([, entry]) => !(entry instanceof Map) || !isEmpty(entry))
    .map(([name, entry]): readonly [string, Entry] =>
      entry instanceof Map ? [name, { mode: FOLDER, id: addFolder(dir, format, entry) }] : [name, entry],
    )
    // A folder stands where its name would with a slash.
    .map(([name, entry]) => ({ ...entry, name, key: entry.mode === FOLDER ? `${name}/` : name }))
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  const lines = entries.flatMap(({ mode, name, id }) => [
    Buffer.from(`${mode} ${name}\0`, "latin1"),
    Buffer.from(id, "hex"),
  ]);
  return add(dir, format, "tree", Buffer.concat(lines));
}

const isEmpty = (folder: Folder): boolean =>
  [...folder.values()].every((entry) => entry instanceof Map && isEmpty(entry));

export const treeOf = (dir: string, commit: string): string =>
  contentOf(dir, "commit", commit).toString("latin1", "tree ".length).split("\n")[0] ?? "";

/** What lies at a path of a tree, if it is a file. */
export function fileAt(dir: string, tree: string, path: string): Buffer | undefined {
  const names = segments(path);
  const last = names.pop() ?? "";
  let folder: Folder | undefined = folderOf(dir, tree);
  for (const name of names) folder = folder === undefined ? undefined : inside(dir, folder, name);
  const entry = folder?.get(last);
  if (entry === undefined || entry instanceof Map || !entry.mode.startsWith("100")) return undefined;
  return contentOf(dir, "blob", entry.id);
}

export type NewCommit = {
  /** Added to what the first parent holds; null removes the path. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly message: string;
  readonly author: string;
  readonly parents: readonly string[];
  readonly at: number;
};

/** From here on git packs what it is given, which costs less than a file for each. */
const LARGE = 100;

/** The commit on no branch yet. */
export const addCommit = (dir: string, commit: NewCommit): string =>
  Object.keys(commit.files).length < LARGE ? addLoose(dir, commit) : addPacked(dir, commit);

function addLoose(dir: string, { files, message, author, parents, at }: NewCommit): string {
  const format = formatOf(dir);
  const [first] = parents;
  const root: Folder = first === undefined ? new Map() : folderOf(dir, treeOf(dir, first));
  for (const [path, text] of Object.entries(files)) {
    const blob = text === null ? null : { mode: FILE, id: add(dir, format, "blob", Buffer.from(text)) };
    change(dir, root, path, blob);
  }
  const lines = [
    `tree ${addFolder(dir, format, root)}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${author} ${at} +0000`,
    `committer ${author} ${at} +0000`,
    "",
    message,
  ];
  return add(dir, format, "commit", Buffer.from(lines.join("\n")));
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

function addPacked(dir: string, { files, message, author, parents: [first, ...others], at }: NewCommit): string {
  const stream = [
    `commit refs/fast-import\nmark :1\nauthor ${author} ${at} +0000\ncommitter ${author} ${at} +0000\n`,
    data(message),
    first === undefined ? "" : `from ${first}\n`,
    ...others.map((parent) => `merge ${parent}\n`),
    ...Object.entries(files).map(([path, text]) =>
      text === null ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`,
    ),
    // Takes the ref away again; the name of the commit is all that is wanted.
    `get-mark :1\nreset refs/fast-import\nfrom ${"0".repeat(formatOf(dir) === "sha1" ? 40 : 64)}\n`,
  ];
  return runGit([`--git-dir=${dir}`, "fast-import", "--quiet", "--force"], stream.join(""))
    .toString("utf8")
    .trim();
}

/** What a full name of a ref names. */
export function refAt(dir: string, ref: string): string | undefined {
  const loose = existing(join(dir, ref))?.toString("latin1").trim();
  if (loose !== undefined && /^[0-9a-f]+$/u.test(loose)) return loose;
  const packed = existing(join(dir, "packed-refs"))?.toString("utf8") ?? "";
  const line = packed.split("\n").find((each) => each.endsWith(` ${ref}`));
  return line?.split(" ")[0];
}

/** Under git's own lock. What stands in its way is left to git, which waits for locks and clears empty folders. */
export function setRef(dir: string, ref: string, id: string): void {
  const file = join(dir, ref);
  try {
    put(file, `${id}\n`, `${file}.lock`);
  } catch {
    runGit([`--git-dir=${dir}`, "update-ref", ref, id]);
  }
}
