/** Repositories, their branches, rules, contents, collaborators and workflow runs. */
import { commit, log, resolve } from "../content/commits.ts";
import { tipOf } from "../content/rules.ts";
import {
  type Answer,
  type Needs,
  notFound,
  ok,
  page,
  redirect,
  Refusal,
  type RepositoryCall,
  type Route,
} from "../http/call.ts";
import { installation, user } from "../render/basics.ts";
import { commitShape } from "../render/commits.ts";
import { api, fullRepository, html } from "../render/repository.ts";
import { accountOf, installationOn, type Protection, type Role } from "../world.ts";
import { ruleShapes } from "../render/rules.ts";
import { contents } from "./contents.ts";

const METADATA: Needs = { permission: "metadata", level: "read" };
const CONTENTS: Needs = { permission: "contents", level: "read" };
const ADMINISTRATION: Needs = { permission: "administration", level: "read" };

const branchOf = (call: RepositoryCall): { readonly name: string; readonly sha: string } => {
  const name = call.params["branch"] ?? "";
  const sha = tipOf(call.repo, name);
  if (sha === undefined) throw new Refusal(404, "Branch not found");
  return { name, sha };
};

/** Where GitHub leads whoever asks for a branch that was renamed, or for a `master` that is not there. */
function movedTo({ repo, params }: RepositoryCall): string | undefined {
  const name = params["branch"] ?? "";
  const to = repo.renamedBranches.get(name) ?? (name === "master" ? repo.defaultBranch : undefined);
  return to === undefined || tipOf(repo, name) !== undefined || tipOf(repo, to) === undefined ? undefined : to;
}

async function branch(call: RepositoryCall): Promise<Answer> {
  const { world, repo } = call;
  const to = movedTo(call);
  if (to !== undefined) return redirect(world, `/repositories/${repo.id}/branches/${encodeURIComponent(to)}`);
  const { name, sha } = branchOf(call);
  const protection = repo.protections.get(name);
  const url = api(world, repo, `/branches/${encodeURIComponent(name)}`);
  const contexts = protection?.requiredStatuses.map((one) => one.context) ?? [];
  return ok({
    name,
    commit: commitShape(world, repo, await commit(repo.git, sha)),
    _links: { self: url, html: html(world, repo, `/tree/${name}`) },
    protected: protection !== undefined,
    protection: {
      enabled: protection?.by === "protection",
      required_status_checks: {
        enforcement_level: contexts.length > 0 ? "everyone" : "off",
        contexts,
        checks: protection?.requiredStatuses.map(({ context, appId }) => ({ context, app_id: appId })) ?? [],
      },
    },
    protection_url: `${url}/protection`,
  });
}

function protectionOf(call: RepositoryCall): Protection {
  const found = call.repo.protections.get(branchOf(call).name);
  if (found?.by !== "protection") throw new Refusal(404, "Branch not protected");
  return found;
}

function requiredStatuses(call: RepositoryCall): Answer {
  const { requiredStatuses: required, strict } = protectionOf(call);
  if (required.length === 0) throw new Refusal(404, "Required status checks not enabled");
  const name = encodeURIComponent(call.params["branch"] ?? "");
  const url = api(call.world, call.repo, `/branches/${name}/protection/required_status_checks`);
  return ok({
    url,
    strict,
    contexts: required.map((one) => one.context),
    contexts_url: `${url}/contexts`,
    checks: required.map(({ context, appId }) => ({ context, app_id: appId })),
  });
}

function protection(call: RepositoryCall): Answer {
  const held = protectionOf(call);
  const url = api(call.world, call.repo, `/branches/${encodeURIComponent(call.params["branch"] ?? "")}/protection`);
  const statuses = held.requiredStatuses.length === 0 ? {} : { required_status_checks: requiredStatuses(call).body };
  return ok({
    url,
    ...statuses,
    enforce_admins: { url: `${url}/enforce_admins`, enabled: true },
    required_linear_history: { enabled: held.linearHistory },
    allow_force_pushes: { enabled: false },
    allow_deletions: { enabled: false },
  });
}

/** GitHub's older word for a role, which knows neither maintain nor triage. */
const OLDER: Readonly<Record<Role, string>> = {
  admin: "admin",
  maintain: "write",
  write: "write",
  triage: "read",
  read: "read",
  none: "none",
};

function permission({ world, repo, params }: RepositoryCall): Answer {
  const login = params["username"] ?? "";
  const account = world.accounts.get(login.toLowerCase());
  if (account === undefined) throw new Refusal(404, `${login} is not a user`);
  // Anybody can read what is public.
  const role: Role = account === repo.owner ? "admin" : (repo.roles.get(login.toLowerCase()) ?? "read");
  const shown = {
    ...user(world, accountOf(world, login)),
    permissions: {
      admin: role === "admin",
      maintain: role === "admin" || role === "maintain",
      push: OLDER[role] === "write" || role === "admin",
      triage: !["none", "read"].includes(role),
      pull: role !== "none",
    },
    role_name: role,
  };
  return ok({ permission: OLDER[role], role_name: role, user: shown });
}

async function commits(call: RepositoryCall): Promise<Answer> {
  const { world, repo, query } = call;
  const sha = await resolve(repo.git, query.get("sha") ?? repo.defaultBranch);
  if (sha === undefined) throw notFound();
  const found = await log(repo.git, ["--max-count=1000", sha]);
  return page(call, found, (one) => commitShape(world, repo, one));
}

async function oneCommit({ world, repo, params, accept }: RepositoryCall): Promise<Answer> {
  const ref = params["ref"] ?? "";
  const sha = await resolve(repo.git, ref);
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`);
  if (accept.includes("sha")) return { status: 200, raw: sha };
  return ok(commitShape(world, repo, await commit(repo.git, sha)));
}

export const repositoryRoutes: readonly Route[] = [
  {
    operation: "GET /repos/{owner}/{repo}",
    as: "REPOSITORY",
    needs: METADATA,
    handle: ({ world, repo }) => ok(fullRepository(world, repo)),
  },
  {
    operation: "GET /repos/{owner}/{repo}/installation",
    as: "REPOSITORY",
    needs: null,
    handle: ({ world, repo, actor }) => {
      if (actor.kind !== "APP") throw new Refusal(401, "A JSON web token could not be decoded");
      const found = installationOn(world, repo);
      if (found === undefined) throw notFound();
      return ok(installation(world, found));
    },
  },
  {
    operation: "GET /repos/{owner}/{repo}/branches",
    as: "REPOSITORY",
    needs: CONTENTS,
    handle: (call) => {
      const { world, repo } = call;
      const branches = [...repo.known].filter(([ref]) => ref.startsWith("refs/heads/"));
      return page(call, branches, ([ref, sha]) => ({
        name: ref.slice("refs/heads/".length),
        commit: { sha, url: api(world, repo, `/commits/${sha}`) },
        protected: repo.protections.has(ref.slice("refs/heads/".length)),
      }));
    },
  },
  { operation: "GET /repos/{owner}/{repo}/branches/{branch}", as: "REPOSITORY", needs: CONTENTS, handle: branch },
  {
    operation: "GET /repos/{owner}/{repo}/branches/{branch}/protection",
    as: "REPOSITORY",
    needs: ADMINISTRATION,
    handle: protection,
  },
  {
    operation: "GET /repos/{owner}/{repo}/branches/{branch}/protection/required_status_checks",
    as: "REPOSITORY",
    needs: ADMINISTRATION,
    handle: requiredStatuses,
  },
  {
    operation: "GET /repos/{owner}/{repo}/rules/branches/{branch}",
    as: "REPOSITORY",
    needs: METADATA,
    handle: (call) => page(call, ruleShapes(call.repo, call.params["branch"] ?? ""), (rule) => rule),
  },
  {
    operation: "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
    as: "REPOSITORY",
    needs: METADATA,
    handle: permission,
  },
  { operation: "GET /repos/{owner}/{repo}/contents/{path}", as: "REPOSITORY", needs: CONTENTS, handle: contents },
  { operation: "GET /repos/{owner}/{repo}/commits", as: "REPOSITORY", needs: CONTENTS, handle: commits },
  { operation: "GET /repos/{owner}/{repo}/commits/{ref}", as: "REPOSITORY", needs: CONTENTS, handle: oneCommit },
];
