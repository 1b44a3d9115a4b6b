/** Commits that somebody pushes, straight into the bare repository. */
import { resolve } from "../content/commits.ts";
import { readRefs } from "../content/refs.ts";
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

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

export async function addCommit(world: World, repo: Repository, branch: string, content: Content): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const parent = content.on === undefined ? readRefs(repo.git.dir).get(ref) : await resolve(repo.git, content.on);
  const by: Account = accountOf(world, content.author ?? "ada");
  const who = `${by.login} <${emailOf(by)}> ${Math.floor(world.now() / 1000)} +0000\n`;
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
