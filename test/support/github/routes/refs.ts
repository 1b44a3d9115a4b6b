/** Refs, with the fast-forward rule and the protection of branches. */
import { isAncestor, resolve } from "../content/commits.ts";
import { moveRef, removeRef } from "../content/refs.ts";
import { isSimpleRef } from "../objects.ts";
import { notice } from "../content/notice.ts";
import { violations } from "../content/rules.ts";
import {
  type Answer,
  created,
  type Needs,
  noContent,
  notFound,
  ok,
  page,
  type RepositoryCall,
  type Route,
  text,
  unprocessable,
} from "../http/call.ts";
import { nodeId } from "../render/basics.ts";
import { api } from "../render/repository.ts";
import { requireWorkflows } from "./workflows.ts";

const READ: Needs = { permission: "contents", level: "read" };
const WRITE: Needs = { permission: "contents", level: "write" };

const shape = ({ world, repo }: RepositoryCall, ref: string, sha: string) => ({
  ref,
  node_id: nodeId("Ref", `${repo.id}:${ref}`),
  url: api(world, repo, `/git/${ref}`),
  object: { type: "commit", sha, url: api(world, repo, `/git/commits/${sha}`) },
});

/** Refs of pull requests can be read, and written by nobody. */
async function find({ repo }: RepositoryCall, ref: string): Promise<string | undefined> {
  const found = repo.known.get(ref);
  if (found !== undefined) return found;
  const out = await repo.git.run(["for-each-ref", "--format=%(objectname)%00%(refname)", ref]);
  return out.out
    .split("\n")
    .find((line) => line.endsWith(`\0${ref}`))
    ?.split("\0")[0];
}

async function one(call: RepositoryCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  const sha = await find(call, ref);
  if (sha === undefined) throw notFound();
  return ok(shape(call, ref, sha));
}

async function matching(call: RepositoryCall): Promise<Answer> {
  const out = await call.repo.git.must(["for-each-ref", "--format=%(objectname) %(refname)", "refs/"]);
  const found = out
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, ref = ""]) => ref.startsWith(`refs/${call.params["ref"]}`));
  return page(call, found, ([sha = "", ref = ""]) => shape(call, ref, sha));
}

async function target(call: RepositoryCall): Promise<string> {
  const sha = text(call.body["sha"]) ?? "";
  if (!/^[0-9a-f]{40}$/u.test(sha))
    throw unprocessable("The sha parameter must be exactly 40 characters and contain only [0-9a-f].");
  if ((await resolve(call.repo.git, sha)) === undefined) throw unprocessable("Object does not exist");
  return sha;
}

async function create(call: RepositoryCall): Promise<Answer> {
  const ref = text(call.body["ref"]) ?? "";
  const { git } = call.repo;
  const isNamed =
    /^refs\/(?:heads|tags)\/./u.test(ref) &&
    (isSimpleRef(ref) || (await git.run(["check-ref-format", ref])).code === 0);
  if (!isNamed) throw unprocessable(`${ref} is not a valid ref name.`);
  const sha = await target(call);
  if (call.repo.known.has(ref)) throw unprocessable("Reference already exists");
  const held = call.repo.protections.get(ref.replace(/^refs\/heads\//u, ""));
  if (held !== undefined && !held.bypass.includes(call.world.app.slug)) throw unprocessable("Reference update failed");
  await requireWorkflows(call, sha);
  const made = await moveRef(git, ref, sha, "0".repeat(40));
  if (!made) throw unprocessable("Reference could not be created");
  return created(shape(call, ref, sha));
}

async function update(call: RepositoryCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  const sha = await target(call);
  const before = call.repo.known.get(ref);
  if (before === undefined) throw unprocessable("Reference does not exist");
  const isForward = await isAncestor(call.repo.git, before, sha);
  if (!isForward && call.body["force"] !== true) throw unprocessable("Update is not a fast forward");
  if (before !== sha) await requireAllowed(call, ref, sha, isForward);
  await requireWorkflows(call, sha);
  const moved = await moveRef(call.repo.git, ref, sha, before);
  if (!moved) throw unprocessable("Reference cannot be updated");
  return ok(shape(call, ref, sha));
}

async function requireAllowed(call: RepositoryCall, ref: string, sha: string, isForward: boolean): Promise<void> {
  if (!ref.startsWith("refs/heads/")) return;
  const branch = ref.slice("refs/heads/".length);
  const held = call.repo.protections.get(branch);
  if (held !== undefined && !isForward) throw unprocessable("Cannot force-push to this branch");
  const merges =
    held?.linearHistory === true && held.bypass.length === 0
      ? await call.repo.git.must(["rev-list", "--merges", "--count", `${call.repo.known.get(ref)}..${sha}`])
      : "0";
  const linear = merges === "0" ? [] : ["This branch must not contain merge commits."];
  const app = call.world.app.slug;
  const [trouble] = [...linear, ...(await violations(call.repo, { branch, sha, pull: null, app }))];
  if (trouble === undefined) return;
  throw unprocessable(held?.by === "ruleset" ? `Repository rule violations found\n\n${trouble}\n\n` : trouble);
}

async function remove(call: RepositoryCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  if (!call.repo.known.has(ref)) throw unprocessable("Reference does not exist");
  if (call.repo.protections.has(ref.slice("refs/heads/".length)))
    throw unprocessable("Cannot delete this protected branch");
  await removeRef(call.repo.git, ref);
  await notice(call.world, call.repo, call.sender);
  return noContent;
}

export const refRoutes: readonly Route[] = [
  { operation: "GET /repos/{owner}/{repo}/git/ref/{ref}", as: "REPOSITORY", needs: READ, handle: one },
  { operation: "GET /repos/{owner}/{repo}/git/matching-refs/{ref}", as: "REPOSITORY", needs: READ, handle: matching },
  { operation: "POST /repos/{owner}/{repo}/git/refs", as: "REPOSITORY", needs: WRITE, handle: create },
  { operation: "PATCH /repos/{owner}/{repo}/git/refs/{ref}", as: "REPOSITORY", needs: WRITE, handle: update },
  { operation: "DELETE /repos/{owner}/{repo}/git/refs/{ref}", as: "REPOSITORY", needs: WRITE, handle: remove },
];
