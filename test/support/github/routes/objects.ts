/** Git objects: commits, trees, blobs. */
import { commit, resolve, writeCommit } from "../content/commits.ts";
import {
  type Answer,
  created,
  type Needs,
  notFound,
  ok,
  type RepositoryCall,
  type Route,
  text,
  unprocessable,
} from "../http/call.ts";
import { instant, nodeId } from "../render/basics.ts";
import { emailOf, gitCommitShape } from "../render/commits.ts";
import { api } from "../render/repository.ts";
import type { Signature } from "../world.ts";

const READ: Needs = { permission: "contents", level: "read" };
const WRITE: Needs = { permission: "contents", level: "write" };

const objectOf = async (call: RepositoryCall, name: string, type: string): Promise<string | undefined> => {
  if (!/^[0-9a-f]{40}$/u.test(name)) return undefined;
  const found = await call.repo.git.run(["rev-parse", "--verify", "--quiet", `${name}^{${type}}`]);
  return found.code === 0 ? found.out.trim() : undefined;
};

async function readCommit(call: RepositoryCall): Promise<Answer> {
  const sha = await objectOf(call, call.params["commit_sha"] ?? "", "commit");
  if (sha === undefined) throw notFound();
  return ok(gitCommitShape(call.world, call.repo, await commit(call.repo.git, sha)));
}

function signature(value: unknown, otherwise: Signature): Signature {
  if (typeof value !== "object" || value === null) return otherwise;
  const { name, email, date } = value as Partial<Record<keyof Signature, unknown>>;
  return {
    name: text(name) ?? otherwise.name,
    email: text(email) ?? otherwise.email,
    date: text(date) ?? otherwise.date,
  };
}

async function createCommit(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, sender } = call;
  const tree = await objectOf(call, text(body["tree"]) ?? "", "tree");
  if (tree === undefined) throw unprocessable("Tree SHA does not exist");
  const parents = Array.isArray(body["parents"]) ? body["parents"].map(String) : [];
  for (const parent of parents)
    if ((await objectOf(call, parent, "commit")) === undefined)
      throw unprocessable("Parent SHA does not exist or is not a commit object");
  const app = { name: sender.login, email: emailOf(sender), date: instant(world.now()) };
  const author = signature(body["author"], app);
  const committer = signature(body["committer"], author);
  const sha = await writeCommit(repo.git, { tree, parents, message: text(body["message"]) ?? "", author, committer });
  return created(gitCommitShape(world, repo, await commit(repo.git, sha)));
}

type Entry = {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size: string;
};

async function treeShape(call: RepositoryCall, sha: string, isDeep: boolean): Promise<object> {
  const { world, repo } = call;
  const out = await repo.git.must(["ls-tree", "-z", "-l", ...(isDeep ? ["-r", "-t"] : []), sha]);
  const entries = out
    .split("\0")
    .filter(Boolean)
    .map((line): Entry => {
      const [meta = "", path = ""] = line.split("\t");
      const [mode = "", type = "", object = "", size = ""] = meta.split(/ +/u);
      return { path, mode, type, sha: object, size };
    });
  const tree = entries.map(({ size, ...entry }) => ({
    ...entry,
    ...(entry.type === "blob" ? { size: Number(size) } : {}),
    url: api(world, repo, `/git/${entry.type}s/${entry.sha}`),
  }));
  return { sha, url: api(world, repo, `/git/trees/${sha}`), tree, truncated: false };
}

async function readTree(call: RepositoryCall): Promise<Answer> {
  const name = call.params["tree_sha"] ?? "";
  const from = (await objectOf(call, name, "tree")) ?? (await resolve(call.repo.git, name));
  if (from === undefined) throw notFound();
  const sha = await call.repo.git.must(["rev-parse", `${from}^{tree}`]);
  return ok(await treeShape(call, sha, call.query.has("recursive")));
}

/** Through an index of its own, which is removed again. */
async function createTree(call: RepositoryCall): Promise<Answer> {
  const { git } = call.repo;
  const entries = Array.isArray(call.body["tree"]) ? call.body["tree"] : [];
  const env = { GIT_INDEX_FILE: `${git.dir}/twin-index-${call.world.nextId()}` };
  const base = text(call.body["base_tree"]);
  await git.must(["read-tree", ...(base === undefined ? ["--empty"] : [base])], { env });
  for (const entry of entries as readonly Partial<Record<keyof Entry | "content", string | null>>[]) {
    const path = entry.path ?? "";
    if (entry.sha === null) await git.must(["update-index", "--force-remove", "--", path], { env });
    else {
      const sha = entry.sha ?? (await git.must(["hash-object", "-w", "--stdin"], { input: entry.content ?? "" }));
      await git.must(["update-index", "--add", "--cacheinfo", `${entry.mode ?? "100644"},${sha},${path}`], { env });
    }
  }
  const sha = await git.must(["write-tree"], { env });
  return created(await treeShape(call, sha, false));
}

async function createBlob(call: RepositoryCall): Promise<Answer> {
  const encoding = call.body["encoding"] === "base64" ? "base64" : "utf8";
  const input = Buffer.from(text(call.body["content"]) ?? "", encoding);
  const sha = await call.repo.git.must(["hash-object", "-w", "--stdin"], { input });
  return created({ sha, url: api(call.world, call.repo, `/git/blobs/${sha}`) });
}

async function readBlob(call: RepositoryCall): Promise<Answer> {
  const { world, repo, params } = call;
  const sha = await objectOf(call, params["file_sha"] ?? "", "blob");
  if (sha === undefined) throw notFound();
  const { bytes } = await repo.git.run(["cat-file", "blob", sha]);
  return ok({
    sha,
    node_id: nodeId("Blob", sha),
    url: api(world, repo, `/git/blobs/${sha}`),
    size: bytes.length,
    encoding: "base64",
    content: bytes.toString("base64"),
  });
}

export const objectRoutes: readonly Route[] = [
  {
    operation: "GET /repos/{owner}/{repo}/git/commits/{commit_sha}",
    as: "REPOSITORY",
    needs: READ,
    handle: readCommit,
  },
  { operation: "POST /repos/{owner}/{repo}/git/commits", as: "REPOSITORY", needs: WRITE, handle: createCommit },
  { operation: "GET /repos/{owner}/{repo}/git/trees/{tree_sha}", as: "REPOSITORY", needs: READ, handle: readTree },
  { operation: "POST /repos/{owner}/{repo}/git/trees", as: "REPOSITORY", needs: WRITE, handle: createTree },
  { operation: "GET /repos/{owner}/{repo}/git/blobs/{file_sha}", as: "REPOSITORY", needs: READ, handle: readBlob },
  { operation: "POST /repos/{owner}/{repo}/git/blobs", as: "REPOSITORY", needs: WRITE, handle: createBlob },
];
