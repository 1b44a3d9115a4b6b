/**
 * Real bare repositories for tests, made with plain git. Holds no assertions.
 *
 *     const repo = aRepository(folder, "acme/app");
 *     const first = repo.commit("main", { files: { "a.txt": "1\n", ...config({ unit: "true" }) } });
 *     const head = repo.pullRequest(1, { on: first, files: { "b.txt": "2\n" }, message: "Add b" });
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commitSha, type CommitSha, repoKey, type RepoKey } from "../../shared/kernel/ids.ts";

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

const ENV = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

export const aFolder = (): string => realpathSync(mkdtempSync(join(tmpdir(), "mainline-test-")));

export function aRepository(folder: string, name = "acme/app", format = "sha1"): TestRepository {
  const [owner = "", repository = ""] = name.split("/");
  const dir = join(folder, owner, `${repository}.git`);
  mkdirSync(dirname(dir), { recursive: true });
  run(["init", "--quiet", "--bare", "--initial-branch=main", `--object-format=${format}`, dir]);
  return repositoryAt(dir, repoKey({ host: "git.local", owner, name: repository }));
}

/** One that is there already. */
export function repositoryAt(dir: string, key: RepoKey): TestRepository {
  const git = (...args: readonly string[]): string => run([`--git-dir=${dir}`, ...args]).trimEnd();
  const shaOf = (ref: string): CommitSha => commitSha(git("rev-parse", "--verify", "--end-of-options", ref));
  const present = (ref: string): CommitSha | undefined => {
    const found = git("for-each-ref", "--format=%(objectname)", ref);
    return found === "" ? undefined : commitSha(found);
  };
  const add = (ref: string, content: NewContent, parent: CommitSha | undefined): CommitSha => {
    run([`--git-dir=${dir}`, "fast-import", "--quiet", "--force"], stream(ref, content, parent));
    return shaOf(ref);
  };
  return {
    dir,
    key,
    git,
    commit: (branch, content = {}) =>
      add(`refs/heads/${branch}`, content, content.on ?? present(`refs/heads/${branch}`)),
    pullRequest: (prNumber, content = {}) =>
      add(`refs/pull/${prNumber}/head`, content, content.on ?? present("refs/heads/main")),
    sha: shaOf,
    tree: (commit) => git("rev-parse", `${commit}^{tree}`),
    read: (commit, path) => git("show", `${commit}:${path}`),
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

function run(args: readonly string[], input = ""): string {
  const answer = spawnSync("git", args, { env: ENV, input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (answer.status !== 0) throw new Error(`git ${args.join(" ")}: ${answer.stderr}`);
  return answer.stdout;
}

function stream(ref: string, content: NewContent, parent: CommitSha | undefined): string {
  const { files = {}, message = "A change", author = "Ada <ada@example.com>", at = 1_700_000_000 } = content;
  const changes = Object.entries(files).map(([path, text]) =>
    text === null ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`,
  );
  return [
    `commit ${ref}\n`,
    `author ${author} ${at} +0000\n`,
    `committer ${author} ${at} +0000\n`,
    data(message),
    parent === undefined ? "" : `from ${parent}\n`,
    content.alsoOn === undefined ? "" : `merge ${content.alsoOn}\n`,
    ...changes,
  ].join("");
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
