/**
 * Finds a repository's folder, and gives two ways to work on it. `refs` runs git in the repository itself and is
 * used for nothing but reading and moving refs. `objects` runs git in an empty repository of our own that borrows
 * this one's objects: no configuration, attributes, merge drivers or filters of the repository are in force there.
 */
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import type { RepoKey } from "../../kernel/ids.ts";
import { HostUnavailable } from "../port.ts";
import { type Git, mustGit } from "./git.ts";
import { isRepositoryPart } from "./names.ts";

export type Repository = {
  readonly key: RepoKey;
  /** The real path of the bare repository. */
  readonly dir: string;
  readonly format: "sha1" | "sha256";
  readonly refs: Git;
  readonly objects: Git;
  /** As `objects`, but what is written goes to a passing folder, so that judging leaves nothing behind. */
  readonly aside: <T>(use: (git: Git) => Promise<T>) => Promise<T>;
};

export type Repositories = {
  /** Throws HostUnavailable when there is no such repository or it cannot be read. */
  readonly open: (key: RepoKey) => Promise<Repository>;
  /** Every repository in the folder, by its key. */
  readonly list: () => Promise<readonly RepoKey[]>;
};

/** Passing object folders; those found at the start were left by a process that was killed. */
const ASIDE = "aside-";

const quoted = (path: string): string => `"${path.replaceAll(/["\\]/gu, "\\$&")}"`;

export async function createRepositories(folder: string, host: string, work: string, git: Git): Promise<Repositories> {
  const neutral = { sha1: join(work, "git", "sha1.git"), sha256: join(work, "git", "sha256.git") };
  await makeNeutral(neutral.sha1, "[core]\n\trepositoryformatversion = 0\n\tbare = true\n");
  await makeNeutral(
    neutral.sha256,
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
  );
  for (const name of await readdir(join(work, "git")))
    if (name.startsWith(ASIDE)) await rm(join(work, "git", name), { recursive: true, force: true });
  const formats = new Map<string, "sha1" | "sha256">();

  const formatOf = async (dir: string): Promise<"sha1" | "sha256"> => {
    const known = formats.get(dir);
    if (known !== undefined) return known;
    const text = await mustGit(git, [`--git-dir=${dir}`, "rev-parse", "--show-object-format"]);
    const format = text.trim() === "sha256" ? "sha256" : "sha1";
    formats.set(dir, format);
    return format;
  };

  const open = async (key: RepoKey): Promise<Repository> => {
    if (key.host !== host.toLowerCase()) throw new HostUnavailable(`${key.host} is not this host`);
    const dir = await locate(folder, key);
    const format = await formatOf(dir);
    const objects = join(dir, "objects");
    const run =
      (args: readonly string[], env: Readonly<Record<string, string>>): Git =>
      (more, options = {}) =>
        git([...args, ...more], { ...options, env: { ...env, ...options.env } });
    const bare = [`--git-dir=${neutral[format]}`];
    return {
      key,
      dir,
      format,
      refs: run([`--git-dir=${dir}`], {}),
      objects: run(bare, { GIT_OBJECT_DIRECTORY: objects }),
      aside: async (use) => {
        const into = await mkdtemp(join(work, "git", ASIDE));
        const env = { GIT_OBJECT_DIRECTORY: into, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(objects) };
        return use(run(bare, env)).finally(() => rm(into, { recursive: true, force: true }));
      },
    };
  };

  const list = async (): Promise<readonly RepoKey[]> => {
    const found = new Map<string, RepoKey>();
    for (const owner of await namesIn(folder))
      if (isRepositoryPart(owner))
        for (const entry of await namesIn(join(folder, owner)).catch(() => [])) {
          const name = entry.endsWith(".git") ? entry.slice(0, -4) : "";
          if (!isRepositoryPart(name)) continue;
          const key = { host: host.toLowerCase(), owner: owner.toLowerCase(), name: name.toLowerCase() };
          found.set(`${key.owner}/${key.name}`, key);
        }
    return [...found.values()];
  };

  return { open, list };
}

async function makeNeutral(dir: string, config: string): Promise<void> {
  await mkdir(join(dir, "refs"), { recursive: true });
  await mkdir(join(dir, "objects"), { recursive: true });
  await writeFile(join(dir, "HEAD"), "ref: refs/heads/none\n");
  await writeFile(join(dir, "config"), config);
}

const namesIn = async (folder: string): Promise<readonly string[]> => (await readdir(folder)).toSorted();

const missing = (key: RepoKey): HostUnavailable =>
  new HostUnavailable(`there is no repository ${key.owner}/${key.name} in the folder of repositories of ${key.host}`);

async function locate(folder: string, key: RepoKey): Promise<string> {
  if (!isRepositoryPart(key.owner) || !isRepositoryPart(key.name)) throw missing(key);
  try {
    const root = await realpath(folder);
    const owner = await sameName(root, key.owner);
    const name = await sameName(join(root, owner), `${key.name}.git`);
    const dir = await realpath(join(root, owner, name));
    // A link may not lead out of the folder that this connection was given.
    if (!dir.startsWith(root + sep)) throw missing(key);
    await stat(join(dir, "objects"));
    return dir;
  } catch (error) {
    if (error instanceof HostUnavailable) throw error;
    throw missing(key);
  }
}

/** Keys are lower case and folders need not be: the exact name first, else the first that differs only by case. */
async function sameName(folder: string, lower: string): Promise<string> {
  const names = await namesIn(folder);
  const found = names.find((name) => name === lower) ?? names.find((name) => name.toLowerCase() === lower);
  if (found === undefined) throw new Error("no such name");
  return found;
}
