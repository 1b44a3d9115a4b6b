/** What owners of repositories and of installations do. */
import { initBare } from "../objects.ts";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { changePull, requireRepository } from "../content/pulls.ts";
import { notice } from "../content/notice.ts";
import { emitInstallation, emitInstalled, named } from "../events.ts";
import { gitIn } from "../git.ts";
import { organization, user } from "../render/basics.ts";
import type { Manifests } from "../routes/apps.ts";
import {
  accountOf,
  findRepository,
  fullName,
  type Installation,
  installationOn,
  inTurn,
  type Permissions,
  type Repository,
  type Role,
  type World,
} from "../world.ts";
import { addCommit } from "./commit.ts";

export type NewRepository = {
  /** The installation that reaches it; the owner's if nothing is said, null for none. */
  readonly installation?: number | null;
  readonly defaultBranch?: string;
  /** Content of the first commit. */
  readonly files?: Readonly<Record<string, string>>;
};

export type ProtectionWanted = {
  /** A name, or a name that only one app may report. */
  readonly requiredStatuses?: readonly (string | { readonly context: string; readonly appId: number })[];
  readonly by?: "protection" | "ruleset";
  /** The head has to contain the base. */
  readonly strict?: boolean;
  readonly approvals?: number;
  readonly requirePullRequest?: boolean;
  readonly linearHistory?: boolean;
  /** Slugs of the only apps that may push. */
  readonly onlyApps?: readonly string[];
  /** Slugs of apps for which the rules do not count. */
  readonly bypass?: readonly string[];
};

export type Operator = {
  readonly addRepository: (
    name: string,
    wanted?: NewRepository,
  ) => Promise<{ readonly id: number; readonly path: string; readonly sha: string }>;
  /** As if issues had taken the numbers before it: the next pull request gets this one. */
  readonly nextNumber: (repository: string, number: number) => void;
  /** The installation on an account, made where there is none. */
  readonly installation: (account: string) => Promise<number>;
  readonly protect: (repository: string, branch: string, wanted: ProtectionWanted) => void;
  readonly unprotect: (repository: string, branch: string) => void;
  readonly allowMethods: (repository: string, allow: Partial<Repository["allow"]>) => void;
  readonly setRole: (repository: string, login: string, role: Role) => void;
  readonly rename: (repository: string, to: string) => Promise<void>;
  /** Its protection and the pull requests into it go along. */
  readonly renameBranch: (repository: string, branch: string, to: string) => Promise<void>;
  readonly transfer: (repository: string, toOwner: string) => Promise<void>;
  readonly deleteRepository: (repository: string) => void;
  /** The installation loses, or gets, a repository. */
  readonly uninstall: (repository: string) => void;
  readonly install: (repository: string) => Promise<void>;
  readonly suspend: (account: string) => void;
  readonly unsuspend: (account: string) => void;
  readonly deleteInstallation: (account: string) => void;
  /** What the installations on an account may do from now on, with tokens they already hold as well. */
  readonly setPermissions: (account: string, permissions: Permissions) => void;
  /** An operator confirmed the manifest in the browser: the code that GitHub redirects with, good once. */
  readonly confirmManifest: (manifest: Readonly<Record<string, unknown>>) => string;
};

export function createOperator(world: World, manifests: Manifests): Operator {
  const repositoryOf = (name: string): Repository => requireRepository(world, name);
  const installed = (account: string): Installation => {
    const found = world.installations.find((one) => one.account.login === account);
    if (found === undefined) throw new Error(`there is no installation on ${account}`);
    return found;
  };
  const made = (account: string): Installation =>
    world.installations.find((one) => one.account.login === account) ?? createInstallation(world, account);
  return {
    addRepository: (name, wanted = {}) => addRepository(world, name, wanted, made),
    nextNumber: (name, number) => void (repositoryOf(name).nextNumber = number),
    installation: (account) => Promise.resolve(made(account).id),
    protect: (name, branch, wanted) => void repositoryOf(name).protections.set(branch, protectionOf(wanted)),
    unprotect: (name, branch) => void repositoryOf(name).protections.delete(branch),
    allowMethods: (name, allow) => void Object.assign(repositoryOf(name).allow, allow),
    setRole: (name, login, role) => {
      accountOf(world, login);
      repositoryOf(name).roles.set(login.toLowerCase(), role);
    },
    rename: (name, to) => move(world, repositoryOf(name), { name: to }),
    renameBranch: (name, branch, to) => renameBranch(world, repositoryOf(name), branch, to),
    transfer: (name, owner) => move(world, repositoryOf(name), { owner }),
    deleteRepository: (name) => {
      const repo = repositoryOf(name);
      world.emit("repository", "deleted", repo, {}, repo.owner);
      installationOn(world, repo)?.repositories.delete(repo.id);
      world.repositories.splice(world.repositories.indexOf(repo), 1);
    },
    uninstall: (name) => {
      const repo = repositoryOf(name);
      const one = installationOn(world, repo);
      if (one === undefined) return;
      one.repositories.delete(repo.id);
      emitInstalled(world, "removed", one, [repo]);
    },
    install: (name) => Promise.resolve(addTo(world, made(repositoryOf(name).owner.login), repositoryOf(name))),
    suspend: (account) => {
      installed(account).suspendedAt = world.now();
      emitInstallation(world, "suspend", installed(account));
    },
    unsuspend: (account) => {
      installed(account).suspendedAt = null;
      emitInstallation(world, "unsuspend", installed(account));
    },
    deleteInstallation: (account) => {
      const one = installed(account);
      world.installations.splice(world.installations.indexOf(one), 1);
      emitInstallation(world, "deleted", one, { repositories: reachedBy(world, one).map(named) });
    },
    setPermissions: (account, permissions) => void (installed(account).permissions = permissions),
    confirmManifest: (manifest) => {
      const code = `code${world.nextId()}`;
      manifests.codes.set(code, manifest);
      return code;
    },
  };
}

function createInstallation(world: World, account: string): Installation {
  const one: Installation = {
    id: world.nextId(),
    account: accountOf(world, account, "Organization"),
    repositories: new Set(),
    permissions: world.app.permissions,
    createdAt: world.now(),
    suspendedAt: null,
  };
  world.installations.push(one);
  emitInstallation(world, "created", one, { repositories: [], requester: null });
  return one;
}

const reachedBy = (world: World, one: Installation): readonly Repository[] =>
  world.repositories.filter((repo) => one.repositories.has(repo.id));

function addTo(world: World, one: Installation, repo: Repository): void {
  one.repositories.add(repo.id);
  emitInstalled(world, "added", one, [repo]);
}

async function addRepository(
  world: World,
  name: string,
  wanted: NewRepository,
  made: (account: string) => Installation,
): Promise<{ id: number; path: string; sha: string }> {
  const defaultBranch = wanted.defaultBranch ?? "main";
  const repo = await createRepository(world, name, defaultBranch, null);
  const sha = await addCommit(world, repo, defaultBranch, {
    files: wanted.files ?? { "README.md": `# ${name}\n` },
    message: "First commit",
  });
  await inTurn(repo, () => notice(world, repo, repo.owner));
  if (wanted.installation !== null) {
    const chosen = world.installations.find((one) => one.id === wanted.installation);
    addTo(world, chosen ?? made(repo.owner.login), repo);
  }
  return { id: repo.id, path: repo.git.dir, sha };
}

export async function createRepository(
  world: World,
  name: string,
  defaultBranch: string,
  parent: Repository | null,
): Promise<Repository> {
  if (findRepository(world, name) !== undefined) throw new Error(`there is a repository ${name} already`);
  const [owner = "", short = ""] = name.split("/");
  const id = world.nextId();
  // A repository that was renamed keeps its folder.
  const isTaken = existsSync(join(world.folder, owner, `${short}.git`));
  const dir = join(world.folder, owner, isTaken ? `${short}-${id}.git` : `${short}.git`);
  mkdirSync(dir, { recursive: true });
  const git = gitIn(dir);
  initBare(dir, defaultBranch);
  const repo: Repository = {
    id,
    name: short,
    formerly: new Set(),
    renamedBranches: new Map(),
    git,
    defaultBranch,
    parent,
    createdAt: world.now(),
    owner: accountOf(world, owner, parent === null ? "Organization" : "User"),
    allow: {
      merge: true,
      squash: true,
      rebase: true,
      deleteBranchOnMerge: false,
    },
    nextNumber: 1,
    pulls: new Map(),
    suites: [],
    checkRuns: [],
    statuses: [],
    comments: [],
    labels: new Map(),
    labellings: [],
    protections: new Map(),
    roles: new Map(),
    workflowRuns: new Map(),
    known: new Map(),
    turn: Promise.resolve(),
  };
  world.repositories.push(repo);
  return repo;
}

const protectionOf = (wanted: ProtectionWanted) => ({
  requiredStatuses: (wanted.requiredStatuses ?? []).map((one) =>
    typeof one === "string" ? { context: one, appId: null } : one,
  ),
  by: wanted.by ?? "protection",
  strict: wanted.strict ?? false,
  approvals: wanted.approvals ?? 0,
  requirePullRequest: wanted.requirePullRequest ?? false,
  linearHistory: wanted.linearHistory ?? false,
  onlyApps: wanted.onlyApps ?? null,
  bypass: wanted.bypass ?? [],
});

/** Under another name, another owner, or both; the id stays, and the old name redirects. */
function move(world: World, repo: Repository, to: { readonly name?: string; readonly owner?: string }): Promise<void> {
  return inTurn(repo, async () => {
    const { name, owner } = repo;
    repo.formerly.add(fullName(repo).toLowerCase());
    repo.name = to.name ?? name;
    repo.owner = to.owner === undefined ? owner : accountOf(world, to.owner, "Organization");
    const isRename = to.owner === undefined;
    const from =
      owner.type === "Organization" ? { organization: organization(world, owner) } : { user: user(world, owner) };
    const changes = isRename ? { repository: { name: { from: name } } } : { owner: { from } };
    world.emit("repository", isRename ? "renamed" : "transferred", repo, { changes }, owner);
    // The former owner's installation does not go along.
    if (!isRename) installationOn(world, repo)?.repositories.delete(repo.id);
  });
}

function renameBranch(world: World, repo: Repository, from: string, to: string): Promise<void> {
  return inTurn(repo, async () => {
    await repo.git.must(["update-ref", `refs/heads/${to}`, `refs/heads/${from}`]);
    await notice(world, repo, repo.owner);
    const into = [...repo.pulls.values()].filter((pull) => pull.state === "open" && pull.base.ref === from);
    for (const pull of into) await changePull(world, repo, pull, { base: to }, repo.owner);
    const protection = repo.protections.get(from);
    if (protection !== undefined) repo.protections.set(to, protection);
    repo.protections.delete(from);
    if (repo.defaultBranch === from) repo.defaultBranch = to;
    repo.renamedBranches.set(from, to);
    await repo.git.must(["update-ref", "-d", `refs/heads/${from}`]);
    await notice(world, repo, repo.owner);
  });
}
