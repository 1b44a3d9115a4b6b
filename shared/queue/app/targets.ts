import { type CodeHost, HostUnavailable } from "../../code-host/port.ts";
import type { CommitSha, QueueKey } from "../../kernel/ids.ts";
import { fail, ok, type Result } from "../../kernel/result.ts";
import type { Effect, QueueEvent, Targets } from "../engine/types.ts";
import { noQueue } from "./faults.ts";
import type { QueueApp, Recording, TargetsRecord } from "./ports.ts";
import type { QueueSettings } from "./settings.ts";
import { RACED, untilUncontended } from "./retry.ts";

export type SettingTargets = {
  readonly key: QueueKey;
  readonly prNumber: number;
  /** Absent: the PR's present head. */
  readonly sha?: CommitSha | undefined;
  readonly targets: "ALL" | readonly string[];
  /** Sent by a fork's workflow without a token. */
  readonly byFork?: boolean;
};

/**
 * What was sent for a commit, as a queue takes it: anybody can be a fork, so its word is as good as none unless the queue
 * trusts it. Queues of one repository may differ, so what is stored is what was said.
 */
export function takenBy(
  settings: Pick<QueueSettings, "trustForkTargets">,
  { source, targets }: TargetsRecord,
): Targets {
  return source === "FORK" && !settings.trustForkTargets ? { kind: "ALL" } : targets;
}

export type TargetsSet = {
  readonly prNumber: number;
  readonly sha: CommitSha;
  readonly targets: TargetsRecord["targets"];
};

/**
 * Stores what a PR's commit changes; the last one for a commit wins. It is kept before the PR is submitted as well.
 * A live entry of that commit is told with a second write; if that is lost, the sweep finds the set and tells it.
 */
export async function setTargets(app: QueueApp, asked: SettingTargets, record: Recording<TargetsSet>) {
  const { key, prNumber } = asked;
  const queue = await app.queues.find(key);
  if (queue === undefined) return noQueue(key);
  const sha = await shaOf(app, asked);
  if (!sha.ok) return sha;
  const targets = asked.targets === "ALL" ? asked.targets : [...new Set(asked.targets)];
  const stored = await app.targets.put(
    key.org,
    key.repo,
    prNumber,
    sha.value,
    targets,
    asked.byFork === true ? "FORK" : "UPLOAD",
  );
  const taken = takenBy(queue.config.settings, stored);
  const set: TargetsSet = { prNumber, sha: sha.value, targets: taken };
  return untilUncontended(app, async () => {
    const live = await app.queues.entry(key, prNumber);
    if (live === undefined || live.entry.headSha !== sha.value) return ok(set);
    const done = await app.queues.ask(key, live, { targets: taken }, record(set));
    return done === "ASKED" ? ok(set) : RACED;
  });
}

async function shaOf(
  app: QueueApp,
  { key, prNumber, sha }: SettingTargets,
): Promise<Result<CommitSha, "INVALID_REQUEST" | "PULL_REQUEST_NOT_FOUND">> {
  if (sha !== undefined) return ok(sha);
  const host = app.hosts(key.org, key.repo.host);
  const issues = [{ path: "pr.sha", message: "is needed: the code host cannot be asked for the head commit" }];
  const cannotAsk = fail("INVALID_REQUEST", "Send pr.sha: the code host cannot be asked for it now.", { issues });
  if (host === undefined) return cannotAsk;
  try {
    const facts = await host.pullRequest(key.repo, prNumber, key.branch);
    if (facts !== "NOT_FOUND") return ok(facts.headSha);
    return fail("PULL_REQUEST_NOT_FOUND", `The code host has no pull request #${prNumber}.`);
  } catch (error) {
    if (error instanceof HostUnavailable) return cannotAsk;
    throw error;
  }
}

type Computing = Extract<Effect, { type: "compute-targets" }>;

/**
 * Finds the targets of a head from the paths that it changes; an upload for it stands. Null when it is not wanted any
 * more: the entry has gone, or has another head.
 */
export async function computeTargets(
  app: QueueApp,
  host: CodeHost,
  { org, repo, branch }: QueueKey,
  { entry, prNumber, headSha }: Computing,
): Promise<QueueEvent | null> {
  const live = await app.queues.entry({ org, repo, branch }, prNumber);
  if (live?.entry.id !== entry || live.entry.headSha !== headSha) return null;
  const found = await host.impactedTargets(repo, prNumber, headSha, branch);
  const { targets } = await app.targets.put(org, repo, prNumber, headSha, found, "PATHS");
  return { type: "targets-computed", entry, headSha, targets };
}
