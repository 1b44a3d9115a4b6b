/**
 * Real bare repositories for tests, made with plain git. Holds no assertions.
 *
 *     const repo = aRepository(folder, "acme/app");
 *     const first = repo.commit("main", { files: { "a.txt": "1\n", ...config({ unit: "true" }) } });
 *     const head = repo.pullRequest(1, { on: first, files: { "b.txt": "2\n" }, message: "Add b" });
 */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitSha, type CommitSha, repoKey, type RepoKey } from "../../shared/kernel/ids.ts";
import { addCommit, fileAt, type Format, initialize, refAt, setRef, treeOf } from "./git-objects.ts";
import { runGit } from "./git-starter.ts";

export type NewContent = {
  /** Path to content; null removes the path. Added to what the first parent holds. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly message?: string;
  readonly author?: string;
  /** The first parent; the branch's own present commit if not given, none where there is none. */
  readonly on?: CommitSha;
  readonly alsoOn?: CommitSha;
  /** Author and committer date, in seconds. */
  readonly at?: number;
};

export type TestRepository = {
  readonly dir: string;
  readonly key: RepoKey;
  /** Runs git in the repository; throws when it fails. */
  readonly git: (...args: readonly string[]) => string;
  /** Adds a commit to a branch, by force, and answers its name. */
  readonly commit: (branch: string, content?: NewContent) => CommitSha;
  /** The same for `refs/pull/<n>/head`; on `main` if nothing else is said. */
  readonly pullRequest: (prNumber: number, content?: NewContent) => CommitSha;
  readonly sha: (ref: string) => CommitSha;
  readonly tree: (commit: string) => string;
  /** `path` at a commit. */
  readonly read: (commit: string, path: string) => string;
  readonly subjects: (range: string) => readonly string[];
};

export const aFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "mainline-test-")));

export function aRepository(folder: string, name = "acme/app", format: Format = "sha1"): TestRepository {
  const [owner = "", repository = ""] = name.split("/");
  const dir = join(folder, owner, `${repository}.git`);
  initialize(dir, format);
  return repositoryAt(dir, repoKey({ host: "git.local", owner, name: repository }));
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u;
const DEFAULTS = { files: {}, message: "A change", author: "Ada <ada@example.com>", at: 1_700_000_000 };

/** One that is there already. */
export function repositoryAt(dir: string, key: RepoKey): TestRepository {
  const git = (...args: readonly string[]): string =>
    runGit([`--git-dir=${dir}`, ...args])
      .toString("utf8")
      .trimEnd();
  const shaOf = (ref: string): CommitSha => {
    const found = ref.startsWith("refs/") ? refAt(dir, ref) : refAt(dir, `refs/heads/${ref}`);
    return commitSha(found ?? git("rev-parse", "--verify", "--end-of-options", ref));
  };
  const treeAt = (commit: string): string =>
    COMMIT.test(commit) ? treeOf(dir, commit) : git("rev-parse", `${commit}^{tree}`);
  const add = (ref: string, { on, alsoOn, ...content }: NewContent, otherwiseOn: string): CommitSha => {
    const parents = [on ?? refAt(dir, otherwiseOn), alsoOn].filter((parent) => parent !== undefined);
    const commit = commitSha(addCommit(dir, { ...DEFAULTS, ...content, parents }));
    setRef(dir, ref, commit);
    return commit;
  };
  return {
    dir,
    key,
    git,
    commit: (branch, content = {}) => add(`refs/heads/${branch}`, content, `refs/heads/${branch}`),
    pullRequest: (prNumber, content = {}) => add(`refs/pull/${prNumber}/head`, content, "refs/heads/main"),
    sha: shaOf,
    tree: treeAt,
    read: (commit, path) => {
      const content = fileAt(dir, treeAt(commit), path);
      return content?.toString("utf8").trimEnd() ?? git("show", `${commit}:${path}`);
    },
    subjects: (range) => git("log", "--first-parent", "--format=%s", range).split("\n"),
  };
}

/** A `.mainline.yaml` with these checks, and targets with their globs; JSON is YAML, and leaves out what is undefined. */
export const config = (
  checks: Readonly<Record<string, string>>,
  required?: readonly string[],
  targets?: Readonly<Record<string, readonly string[]>>,
): { readonly ".mainline.yaml": string } => ({
  ".mainline.yaml": JSON.stringify({ checks, required_statuses: required, targets }),
});
