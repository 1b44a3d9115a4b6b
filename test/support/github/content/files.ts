/** Which files two commits differ in. */
import type { Git } from "../git.ts";

export type ChangedFile = {
  readonly path: string;
  readonly formerly: string | null;
  readonly status: "added" | "removed" | "modified" | "renamed" | "copied" | "changed";
  readonly sha: string;
  readonly additions: number;
  readonly deletions: number;
};

const STATUS: Readonly<Record<string, ChangedFile["status"]>> = {
  A: "added",
  D: "removed",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "changed",
};

/** From where `head` left `base`, as pull requests and comparisons show it. */
export async function changedFiles(git: Git, base: string, head: string): Promise<readonly ChangedFile[]> {
  const range = `${base}...${head}`;
  const [raw, numbers] = await Promise.all([
    git.must(["diff", "--raw", "-z", "--find-renames", "--no-abbrev", range]),
    git.must(["diff", "--numstat", "-z", "--find-renames", range]),
  ]);
  const counts = counted(numbers);
  const fields = raw.split("\0");
  const files: ChangedFile[] = [];
  for (let at = 0; at < fields.length && fields[at] !== ""; ) {
    const [, , before = "", after = "", letter = ""] = fields[at]?.split(" ") ?? [];
    const status = STATUS[letter.slice(0, 1)] ?? "changed";
    const hasTwo = status === "renamed" || status === "copied";
    const path = fields[at + (hasTwo ? 2 : 1)] ?? "";
    const [additions = 0, deletions = 0] = counts.get(path) ?? [];
    const formerly = hasTwo ? (fields[at + 1] ?? null) : null;
    files.push({ path, formerly, status, sha: status === "removed" ? before : after, additions, deletions });
    at += hasTwo ? 3 : 2;
  }
  return files;
}

/** A renamed file has its numbers alone, then both its names. */
function counted(out: string): ReadonlyMap<string, readonly [number, number]> {
  const fields = out.split("\0");
  const found = new Map<string, readonly [number, number]>();
  for (let at = 0; at < fields.length && fields[at] !== ""; ) {
    const [added = "", removed = "", path = ""] = fields[at]?.split("\t") ?? [];
    const name = path === "" ? (fields[at + 2] ?? "") : path;
    found.set(name, [Number(added) || 0, Number(removed) || 0]);
    at += path === "" ? 3 : 1;
  }
  return found;
}
