/** Files and folders at a ref. */
import { resolve } from "../content/commits.ts";
import { type Answer, notFound, ok, Refusal, type RepositoryCall } from "../http/call.ts";
import { api, html } from "../render/repository.ts";

type Entry = {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size: number;
  readonly path: string;
};

/** Larger files come without content, and only as raw. */
const INLINE_MOST = 1_024 * 1_024;

export async function contents(call: RepositoryCall): Promise<Answer> {
  const { repo, params, query, accept } = call;
  const path = (params["path"] ?? "").replaceAll(/^\/+|\/+$/gu, "");
  const ref = query.get("ref") ?? repo.defaultBranch;
  const sha = await resolve(repo.git, ref);
  if (sha === undefined) throw new Refusal(404, `No commit found for the ref ${ref}`);
  const [entry] = await list(call, sha, path);
  if (entry === undefined) throw notFound();
  if (entry.type === "tree") return ok((await list(call, sha, `${path}/`)).map((one) => inFolder(call, one, ref)));
  const isRaw = /application\/vnd\.github(?:\.v3)?\.raw/u.test(accept);
  const content = await repo.git.run(["cat-file", "blob", entry.sha]);
  return isRaw ? { status: 200, raw: content.bytes } : ok(file(call, entry, content.bytes, ref));
}

async function list({ repo }: RepositoryCall, commit: string, path: string): Promise<readonly Entry[]> {
  const out = await repo.git.must(["ls-tree", "-z", "-l", commit, "--", path]);
  return out
    .split("\0")
    .filter(Boolean)
    .map((line) => {
      const [meta = "", name = ""] = line.split("\t");
      const [mode = "", type = "", sha = "", size = ""] = meta.split(/ +/u);
      return { mode, type, sha, size: Number(size) || 0, path: name };
    });
}

const shared = ({ world, repo }: RepositoryCall, entry: Entry, ref: string) => {
  const url = `${api(world, repo, `/contents/${encodeURI(entry.path)}`)}?ref=${encodeURIComponent(ref)}`;
  const page = html(world, repo, `/blob/${ref}/${encodeURI(entry.path)}`);
  const git = api(world, repo, `/git/${entry.type}s/${entry.sha}`);
  return {
    name: entry.path.split("/").at(-1) ?? "",
    path: entry.path,
    sha: entry.sha,
    size: entry.size,
    url,
    html_url: page,
    git_url: git,
    download_url: entry.type === "blob" ? html(world, repo, `/raw/${ref}/${encodeURI(entry.path)}`) : null,
    _links: { self: url, git, html: page },
  };
};

const inFolder = (call: RepositoryCall, entry: Entry, ref: string) => ({
  ...shared(call, entry, ref),
  type: entry.type === "tree" ? "dir" : "file",
});

const file = (call: RepositoryCall, entry: Entry, content: Buffer, ref: string) => ({
  ...shared(call, entry, ref),
  type: "file",
  ...(entry.size > INLINE_MOST
    ? { encoding: "none", content: "" }
    : { encoding: "base64", content: content.toString("base64").replaceAll(/.{60}/gu, "$&\n") }),
});
