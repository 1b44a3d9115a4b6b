/** Commits that somebody pushes, straight into the bare repository. */
import { resolve } from "../content/commits.ts";
import { readRefs, setRef } from "../content/refs.ts";
import { changedTree, readObject, writeObject } from "../objects.ts";
import { emailOf } from "../render/commits.ts";
import { type Account, accountOf, type Repository, type World } from "../world.ts";

export type Content = {
  /** Path to content; null removes the path. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly message?: string;
  readonly author?: string;
  /** The parent: a branch or a commit; the branch's own present commit if nothing is said. */
  readonly on?: string;
};

/** Without git where its parent can be read here. */
function simpleCommit(dir: string, parent: string | undefined, content: Content, who: string): string | undefined {
  const found = parent === undefined ? undefined : readObject(dir, parent);
  const tree = /^tree ([0-9a-f]{40})\n/u.exec(found?.bytes.toString() ?? "")?.[1];
  if (parent !== undefined && (found?.kind !== "commit" || tree === undefined)) return undefined;
  const made = changedTree(dir, tree, content.files ?? {});
  if (made === undefined) return undefined;
  const parents = parent === undefined ? "" : `parent ${parent}\n`;
  const head = `tree ${made}\n${parents}author ${who}committer ${who}`;
  return writeObject(dir, "commit", `${head}\n${content.message ?? "A change"}`);
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

export async function addCommit(world: World, repo: Repository, branch: string, content: Content): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const parent = content.on === undefined ? readRefs(repo.git.dir).get(ref) : await resolve(repo.git, content.on);
  const by: Account = accountOf(world, content.author ?? "ada");
  const who = `${by.login} <${emailOf(by)}> ${Math.floor(world.now() / 1000)} +0000\n`;
  const made = simpleCommit(repo.git.dir, parent, content, who);
  if (made !== undefined) {
    await setRef(repo.git, ref, made);
    return made;
  }
  const changes = Object.entries(content.files ?? {}).map(([path, text]) =>
    text === null ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`,
  );
  const input = [
    `commit ${ref}\nauthor ${who}committer ${who}`,
    data(content.message ?? "A change"),
    parent === undefined ? "" : `from ${parent}\n`,
    ...changes,
  ].join("");
  await repo.git.must(["fast-import", "--quiet", "--force"], { input });
  return readRefs(repo.git.dir).get(ref) ?? "";
}
