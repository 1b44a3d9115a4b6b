/** Labels; one that a pull request gets and the repository lacks is made. */
import { emitLabel } from "../events.ts";
import { invalid } from "../http/call.ts";
import type { Account, Pull, Repository, World } from "../world.ts";

const LONGEST = 50;

export function createLabel(world: World, repo: Repository, name: string, color = "ededed", description = ""): void {
  if (name === "" || name.length > LONGEST)
    throw invalid("Label", "invalid", "name is too long (maximum is 50 characters)", "name");
  if (repo.labels.has(name.toLowerCase())) throw invalid("Label", "already_exists", "Label already exists", "name");
  repo.labels.set(name.toLowerCase(), { id: world.nextId(), name, color, description });
}

function tell(
  world: World,
  repo: Repository,
  event: "labeled" | "unlabeled",
  pull: Pull,
  name: string,
  actor: Account,
): Promise<void> {
  const label = repo.labels.get(name.toLowerCase())?.name ?? name;
  repo.labellings.push({ id: world.nextId(), number: pull.number, event, label, actor, at: world.now() });
  return emitLabel(world, repo, event, pull, label, actor);
}

const has = (pull: Pull, name: string): boolean => pull.labels.some((one) => one.toLowerCase() === name.toLowerCase());

export async function addLabels(
  world: World,
  repo: Repository,
  pull: Pull,
  names: readonly string[],
  sender: Account,
): Promise<void> {
  for (const name of names) {
    if (!repo.labels.has(name.toLowerCase())) createLabel(world, repo, name);
    if (has(pull, name)) continue;
    pull.labels.push(repo.labels.get(name.toLowerCase())?.name ?? name);
    pull.updatedAt = world.now();
    await tell(world, repo, "labeled", pull, name, sender);
  }
}

/** False where the pull request does not carry it. */
export async function removeLabel(
  world: World,
  repo: Repository,
  pull: Pull,
  name: string,
  sender: Account,
): Promise<boolean> {
  const at = pull.labels.findIndex((one) => one.toLowerCase() === name.toLowerCase());
  if (at === -1) return false;
  pull.labels.splice(at, 1);
  pull.updatedAt = world.now();
  await tell(world, repo, "unlabeled", pull, name, sender);
  return true;
}
