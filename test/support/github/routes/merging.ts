/** Merging: a pull request by one of three methods, and one branch into another. */
import { commit, isAncestor, resolve } from "../content/commits.ts";
import { moveRef, removeRef } from "../content/refs.ts";
import { merged, type MergeWords, rebased, squashed, squashMessage } from "../content/merging.ts";
import { tipOf, violations } from "../content/rules.ts";
import { emitPull } from "../events.ts";
import {
  type Answer,
  created,
  type Needs,
  noContent,
  ok,
  Refusal,
  type RepositoryCall,
  type Route,
  text,
  unprocessable,
} from "../http/call.ts";
import { instant } from "../render/basics.ts";
import { commitShape, emailOf } from "../render/commits.ts";
import type { Account, Pull, Signature } from "../world.ts";
import { pullOf } from "./pulls.ts";
import { requireWorkflows } from "./workflows.ts";

const WRITE: Needs = { permission: "contents", level: "write" };

type Method = "merge" | "squash" | "rebase";
const NAMES: Readonly<Record<Method, string>> = {
  merge: "Merge commits",
  squash: "Squash merges",
  rebase: "Rebase merges",
};

const signatureOf = (account: Account, now: number): Signature => ({
  name: account.login,
  email: emailOf(account),
  date: instant(now),
});
const byGitHub = (now: number): Signature => ({ name: "GitHub", email: "noreply@github.com", date: instant(now) });

async function mergePull(call: RepositoryCall): Promise<Answer> {
  const pull = pullOf(call);
  const method = methodOf(call);
  const tip = await requireMergeable(call, pull, method);
  const made = await build(call, pull, method, tip);
  if (made === null)
    throw new Refusal(405, method === "rebase" ? "This branch can't be rebased" : "Pull Request is not mergeable");
  const { world, repo, sender } = call;
  // Until the ref is moved nobody may have moved it: a push with plain git does not wait for its turn.
  const moved = await moveRef(repo.git, `refs/heads/${pull.base.ref}`, made, tip);
  if (!moved) throw new Refusal(405, "Base branch was modified. Review and try the merge again.");
  pull.state = "closed";
  pull.closedAt = world.now();
  pull.updatedAt = world.now();
  pull.merged = { at: world.now(), by: sender, commit: made };
  await emitPull(world, repo, "closed", pull, sender);
  if (repo.allow.deleteBranchOnMerge && pull.head.repo === repo)
    await removeRef(repo.git, `refs/heads/${pull.head.ref}`);
  return ok({ sha: made, merged: true, message: "Pull Request successfully merged" });
}

function methodOf({ body, repo }: RepositoryCall): Method {
  const asked = body["merge_method"];
  const method: Method = asked === "squash" || asked === "rebase" ? asked : "merge";
  if (!repo.allow[method]) throw new Refusal(405, `${NAMES[method]} are not allowed on this repository.`);
  return method;
}

/** The tip it merges into. */
async function requireMergeable(call: RepositoryCall, pull: Pull, method: Method): Promise<string> {
  const tip = tipOf(call.repo, pull.base.ref);
  if (pull.state === "closed" || tip === undefined) throw new Refusal(405, "Pull Request is not mergeable");
  if (pull.draft) throw new Refusal(405, "Pull Request is still a draft");
  const pinned = text(call.body["sha"]);
  if (pinned !== undefined && !/^[0-9a-f]{40}$/u.test(pinned)) throw unprocessable("sha is not a commit's full name");
  if (pinned !== undefined && pinned !== pull.head.sha)
    throw new Refusal(409, "Head branch was modified. Review and try the merge again.");
  const app = call.world.app.slug;
  const held = call.repo.protections.get(pull.base.ref);
  const isLinear = held?.linearHistory === true && method === "merge" && !held.bypass.includes(app);
  const linear = isLinear ? ["Merge commits are not allowed on this branch."] : [];
  const rules = await violations(call.repo, { branch: pull.base.ref, sha: pull.head.sha, pull, app });
  const [trouble] = [...linear, ...rules];
  if (trouble === undefined) return tip;
  throw new Refusal(405, held?.by === "ruleset" ? `Repository rule violations found\n\n${trouble}\n\n` : trouble);
}

async function build(call: RepositoryCall, pull: Pull, method: Method, tip: string): Promise<string | null> {
  const { world, repo, sender } = call;
  const { git } = repo;
  const head = pull.head.sha;
  const committer = byGitHub(world.now());
  if (method === "rebase") return rebased(git, tip, head, committer);
  const words = await wordsOf(call, pull, method, tip);
  const author = signatureOf(method === "squash" ? pull.author : sender, world.now());
  const made: MergeWords = { author, committer, message: words };
  return method === "squash" ? squashed(git, tip, head, made) : merged(git, tip, head, made);
}

async function wordsOf({ repo, body }: RepositoryCall, pull: Pull, method: Method, tip: string): Promise<string> {
  const usual =
    method === "squash"
      ? { title: `${pull.title} (#${pull.number})`, body: await squashMessage(repo.git, tip, pull.head.sha) }
      : {
          title: `Merge pull request #${pull.number} from ${pull.head.repo.owner.login}/${pull.head.ref}`,
          body: pull.title,
        };
  const title = text(body["commit_title"]) ?? usual.title;
  const rest = text(body["commit_message"]) ?? usual.body;
  return rest === "" ? title : `${title}\n\n${rest}`;
}

/** Always a merge commit, also where a fast-forward would do; nothing where the base holds it already. */
async function mergeBranches(call: RepositoryCall): Promise<Answer> {
  const { world, repo, body, sender } = call;
  const [base, name] = [text(body["base"]) ?? "", text(body["head"]) ?? ""];
  const tip = tipOf(repo, base);
  if (tip === undefined) throw new Refusal(404, "Base does not exist");
  const head = await resolve(repo.git, name);
  if (head === undefined) throw new Refusal(404, "Head does not exist");
  if (await isAncestor(repo.git, head, tip)) return noContent;
  const author = signatureOf(sender, world.now());
  const message = text(body["commit_message"]) ?? `Merge ${name} into ${base}`;
  const made = await merged(repo.git, tip, head, { author, committer: byGitHub(world.now()), message });
  if (made === null) throw new Refusal(409, "Merge conflict");
  const [trouble] = await violations(repo, { branch: base, sha: made, pull: null, app: world.app.slug });
  if (trouble !== undefined) throw new Refusal(403, trouble);
  await requireWorkflows(call, made);
  const moved = await moveRef(repo.git, `refs/heads/${base}`, made, tip);
  if (!moved) throw new Refusal(409, "Base branch was modified. Review and try the merge again.");
  return created(commitShape(world, repo, await commit(repo.git, made)));
}

export const mergeRoutes: readonly Route[] = [
  {
    operation: "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
    as: "REPOSITORY",
    needs: WRITE,
    handle: mergePull,
  },
  { operation: "POST /repos/{owner}/{repo}/merges", as: "REPOSITORY", needs: WRITE, handle: mergeBranches },
];
