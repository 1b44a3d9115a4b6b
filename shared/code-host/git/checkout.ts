/**
 * The worktree a check runs in: the tested content, with a `.git` of its own that borrows the repository's objects,
 * so that `git log` and `git status` work in it and nothing it does can reach the repository. Attributes take effect
 * as in any checkout, but no filter is defined, so none can run.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import type { CommitSha } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { type Git, gitTrouble } from "./git.ts";
import { oneLine } from "./names.ts";
import type { Repository } from "./repository.ts";

const CONFIG = {
  sha1: "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
  sha256: "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n",
};

export const objectsOf = (repo: Repository): string => join(repo.dir, "objects");

export async function checkOut(
  git: Git,
  repo: Repository,
  branch: string,
  commit: CommitSha,
  tree: string,
): Promise<void> {
  const own = join(tree, ".git");
  const ref = join(own, "refs", "heads", branch);
  await mkdir(join(own, "objects", "info"), { recursive: true });
  await mkdir(dirname(ref), { recursive: true });
  await writeFile(ref, `${commit}\n`);
  await writeFile(join(own, "HEAD"), `ref: refs/heads/${branch}\n`);
  await writeFile(join(own, "config"), CONFIG[repo.format]);
  await writeFile(join(own, "objects", "info", "alternates"), `${objectsOf(repo)}\n`);
  const args = [`--git-dir=${own}`, `--work-tree=${tree}`, "read-tree", "--reset", "-u", commit];
  const answer = await git(args, { timeoutMs: 30 * 60_000 });
  if (answer.code === 0) return;
  const fault = contentFault(answer.err);
  throw fault === undefined ? new HostUnavailable(gitTrouble(args, answer)) : new ContentFault(fault);
}

/** The content cannot be in a folder of this machine, now or later: its own fault, and no trouble of the host. */
export class ContentFault extends Error {
  override readonly name = "ContentFault";
}

/** `.git`, `..` and their like, which git keeps out of a worktree, and names that no file system here takes. */
function contentFault(complaints: string): string | undefined {
  const [line] =
    /^error: invalid path '.*|^.*: File name too long$|^error: unable to create .{1000,}/mu.exec(complaints) ?? [];
  return line === undefined ? undefined : oneLine(line, 250);
}

/** A check may have taken rights away from its own files; the owner can give them back. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 2 });
  await remove().catch(async () => {
    await new Promise((resolve) => {
      spawn("chmod", ["-R", "u+rwX", "--", folder], { stdio: "ignore" }).on("error", resolve).on("exit", resolve);
    });
    await remove();
  });
}
