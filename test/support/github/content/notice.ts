/** What follows from refs that moved, whoever moved them: push webhooks, suites, pull requests that change or end. */
import { emitPull, emitPush, emitSuite } from "../events.ts";
import { ownApp } from "../render/basics.ts";
import { accountOf, type Account, fullName, installationOn, type Pull, type Repository, type World } from "../world.ts";
import { suiteOf } from "./checks.ts";
import { isAncestor } from "./commits.ts";
import { readRefs, setRef } from "./refs.ts";

export type Moved = { readonly ref: string; readonly before: string | null; readonly after: string | null };

const BRANCH = "refs/heads/";

/** Call it in the repository's turn. */
export async function notice(world: World, repo: Repository, by?: Account): Promise<void> {
  const sender = by ?? accountOf(world, "somebody");
  const present = readRefs(repo.git.dir);
  const moved = changes(repo.known, present);
  repo.known = present;
  for (const one of moved) await branchMoved(world, repo, one, sender);
  await noticeForks(world, repo, sender);
}

function changes(known: ReadonlyMap<string, string>, present: ReadonlyMap<string, string>): readonly Moved[] {
  const names = [...new Set([...known.keys(), ...present.keys()])];
  return names
    .map((ref) => ({ ref, before: known.get(ref) ?? null, after: present.get(ref) ?? null }))
    .filter((one) => one.before !== one.after);
}

async function branchMoved(world: World, repo: Repository, moved: Moved, sender: Account): Promise<void> {
  await emitPush(world, repo, moved, sender);
  if (!moved.ref.startsWith(BRANCH)) return;
  const branch = moved.ref.slice(BRANCH.length);
  await beginSuite(world, repo, branch, moved, sender);
  for (const pull of repo.pulls.values()) {
    if (pull.state !== "open") continue;
    if (pull.head.repo === repo && pull.head.ref === branch) await headMoved(world, repo, pull, moved.after, sender);
    if (pull.base.ref === branch) await baseMoved(world, repo, pull, moved, sender);
  }
  if (moved.after !== null) world.pushed({ repository: fullName(repo), branch, sha: moved.after });
}

/** GitHub opens a suite for every app that may write checks, whether it ever reports or not. */
async function beginSuite(
  world: World,
  repo: Repository,
  branch: string,
  moved: Moved,
  sender: Account,
): Promise<void> {
  if (moved.after === null || installationOn(world, repo)?.permissions["checks"] !== "write") return;
  const count = repo.suites.length;
  const suite = suiteOf(world, repo, ownApp(world.app), moved.after, branch);
  if (repo.suites.length > count) await emitSuite(world, repo, "requested", suite, sender);
}

/** A branch that is deleted closes its pull request. */
async function headMoved(
  world: World,
  repo: Repository,
  pull: Pull,
  sha: string | null,
  sender: Account,
): Promise<void> {
  if (sha === null) return close(world, repo, pull, sender);
  const before = pull.head.sha;
  if (before === sha) return;
  await setRef(repo.git, `refs/pull/${pull.number}/head`, sha);
  pull.head.sha = sha;
  pull.base.sha = repo.known.get(`${BRANCH}${pull.base.ref}`) ?? pull.base.sha;
  pull.mergeability = { kind: "UNKNOWN" };
  pull.updatedAt = world.now();
  await emitPull(world, repo, "synchronize", pull, sender, { before, after: sha });
  await closeIfContained(world, repo, pull, sender);
}

async function baseMoved(world: World, repo: Repository, pull: Pull, moved: Moved, sender: Account): Promise<void> {
  if (moved.after === null) return close(world, repo, pull, sender);
  pull.mergeability = { kind: "UNKNOWN" };
  await closeIfContained(world, repo, pull, sender);
}

async function close(world: World, repo: Repository, pull: Pull, sender: Account): Promise<void> {
  pull.state = "closed";
  pull.closedAt = world.now();
  pull.updatedAt = world.now();
  await emitPull(world, repo, "closed", pull, sender);
}

/** A head that somebody pushed to the base branch counts as merged, without anybody having pressed the button. */
async function closeIfContained(world: World, repo: Repository, pull: Pull, sender: Account): Promise<void> {
  const tip = repo.known.get(`${BRANCH}${pull.base.ref}`);
  if (tip === undefined || !(await isAncestor(repo.git, pull.head.sha, tip))) return;
  const commit = await broughtBy(repo, pull, tip);
  pull.merged = { at: world.now(), by: sender, commit };
  await close(world, repo, pull, sender);
}

/** The first commit along the base branch that contains the head. */
async function broughtBy(repo: Repository, pull: Pull, tip: string): Promise<string> {
  const range = `${pull.head.sha}..${tip}`;
  const [path, first] = await Promise.all([
    repo.git.must(["rev-list", "--ancestry-path", range]),
    repo.git.must(["rev-list", "--first-parent", "--reverse", range]),
  ]);
  const after = new Set(path.split("\n"));
  return first.split("\n").find((sha) => after.has(sha)) ?? pull.head.sha;
}

/** A fork's branch is looked at for the sake of the pull requests that it feeds. */
async function noticeForks(world: World, repo: Repository, sender: Account): Promise<void> {
  for (const pull of repo.pulls.values()) {
    const { head } = pull;
    if (pull.state !== "open" || head.repo === repo) continue;
    const found = await head.repo.git.run(["rev-parse", "--verify", "--quiet", `${BRANCH}${head.ref}`]);
    const sha = found.code === 0 ? found.out.trim() : null;
    if (sha !== null && sha !== head.sha) await fetchHead(repo, pull);
    if (sha !== head.sha) await headMoved(world, repo, pull, sha, sender);
  }
}

/** Forks share their objects with the repository they were made from. */
export async function fetchHead(repo: Repository, pull: Pick<Pull, "number" | "head">): Promise<void> {
  const from = `+${BRANCH}${pull.head.ref}:refs/pull/${pull.number}/head`;
  await repo.git.must(["fetch", "--quiet", "--no-tags", pull.head.repo.git.dir, from]);
}
