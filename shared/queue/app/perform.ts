import { type CodeHost, HostUnavailable, NotConnected, NotNow } from "../../code-host/port.ts";
import { type QueueKey, queueLabel } from "../../kernel/ids.ts";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../../kernel/time.ts";
import { retryAt } from "../engine/backoff.ts";
import type { Effect, QueueEvent } from "../engine/types.ts";
import { compareTargets } from "./compare.ts";
import { isOfHint } from "./hints.ts";
import { hear } from "./people/hear.ts";
import { show } from "./people/show.ts";
import type { ClaimedEffect, OutboxEffect, QueueApp } from "./ports.ts";
import { patiently } from "./retry.ts";
import { computeTargets } from "./targets.ts";

/** Longer than any effect takes; one whose worker died is taken over then. */
const LEASE_MS = 2 * MINUTE_MS;

type Performed =
  | { readonly result: QueueEvent | null }
  | { readonly again: string; readonly notBefore?: EpochMs | undefined };

/** Does one effect of the outbox and leaves its result for the loop. A no-op when somebody else is at it or it is done. */
export async function perform(app: QueueApp, key: QueueKey, effectKey: string): Promise<void> {
  const claimed = await app.queues.claim(key, effectKey, app.clock(), LEASE_MS);
  if (claimed === undefined) return;
  app.passing("effect:claimed");
  const performed = await attempt(app, key, claimed);
  app.passing(`effect:${claimed.effect.type}:done`);
  await patiently(app, () => settle(app, key, claimed, performed));
  app.passing("effect:finished");
}

async function settle(app: QueueApp, key: QueueKey, claimed: ClaimedEffect, performed: Performed): Promise<void> {
  if ("again" in performed && !isGivenUp(app, claimed)) {
    const until = performed.notBefore ?? retryAt(app.clock(), claimed.attempts);
    await app.queues.postpone(key, claimed, until, performed.again);
  } else await app.queues.finish(key, claimed, "again" in performed ? null : performed.result);
}

/** Where a repository is gone for good nobody looks at its pages: what cannot be shown for a day is not tried again. */
const isGivenUp = (app: QueueApp, { effect }: ClaimedEffect): boolean =>
  effect.type === "show" && app.clock() - effect.at > DAY_MS;

async function attempt(app: QueueApp, key: QueueKey, { effect }: ClaimedEffect): Promise<Performed> {
  try {
    if (effect.type === "ask-forgiveness") return await forgive(app, key, effect);
    if (effect.type === "compare-targets") return { result: await compareTargets(app, key, effect) };
    const host = app.hosts(key.org, key.repo.host);
    if (host !== undefined) return await onHost(app, host, key, effect);
    return unavailable(effect, `no code host is connected for ${key.repo.host}`, "NOT_CONNECTED");
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    if (error instanceof NotNow && effect.type === "show") return { again: what, notBefore: error.until };
    const isOurs = !(error instanceof HostUnavailable);
    if (isOurs) app.log.error("an effect failed", { queue: queueLabel(key), effect: effect.key, error: what });
    const kind = error instanceof NotConnected ? "NOT_CONNECTED" : "UNREACHABLE";
    return unavailable(effect, isOurs ? "the service failed while working on it" : what, kind);
  }
}

/** What the loop is told when the host cannot be reached; effects that nobody waits for are tried again later. */
function unavailable(effect: OutboxEffect, what: string, kind: "NOT_CONNECTED" | "UNREACHABLE"): Performed {
  switch (effect.type) {
    case "build-run":
      return { result: { type: "run-not-built", run: effect.run, why: { kind: "INFRASTRUCTURE", what } } };
    case "repeat-checks":
      return { result: { type: "run-broken", run: effect.run, what } };
    case "land":
      return { result: { type: "not-landed", landing: effect.landing, why: { kind: "INFRASTRUCTURE", what } } };
    case "read-pull-request":
      return { result: { type: "pull-request-unknown", prNumber: effect.prNumber, kind, what } };
    case "read-statuses":
    case "read-tip":
    case "close-run":
    case "compare-targets":
    case "compute-targets":
    case "ask-forgiveness":
    case "show":
    case "hear":
      return { again: what };
  }
}

/** Reports come in after the failure that they explain: until the time that the loop waits for them, it is asked again. */
async function forgive(app: QueueApp, key: QueueKey, effect: Of<"ask-forgiveness">): Promise<Performed> {
  const { run, repeats } = effect;
  const forgiven = await app.forgives(key, effect);
  if (forgiven !== "LATER") return { result: { type: "forgiveness", run, repeats, forgiven } };
  return app.clock() < effect.until ? { again: "its reports are not there yet" } : { result: null };
}

type OnHost = Exclude<OutboxEffect, { type: "compare-targets" | "ask-forgiveness" }>;

async function onHost(app: QueueApp, host: CodeHost, key: QueueKey, effect: OnHost): Promise<Performed> {
  const { repo, branch } = key;
  switch (effect.type) {
    case "build-run":
      return { result: await build(app, host, key, effect) };
    case "repeat-checks":
      await host.repeatChecks(repo, effect.run, effect.repeat, effect.contexts);
      return { result: null };
    case "read-statuses": {
      const read = await readStatuses(app, host, key, effect.run);
      // CI may be done before the host has noted what it built: that nothing is known of the run is no news then.
      return { result: read.type === "run-broken" && isOfHint(effect) ? null : read };
    }
    case "close-run":
      await host.closeRun(repo, effect.run, effect.branch);
      return { result: null };
    case "land":
      return { result: await land(host, key, effect) };
    case "show":
      await show(app, host, key, effect);
      return { result: null };
    case "hear": {
      const again = await hear(app, host, key, effect.heard);
      return again === undefined ? { result: null } : { again };
    }
    case "read-pull-request":
      return { result: await readPullRequest(app, host, key, effect.prNumber) };
    case "compute-targets":
      return { result: await computeTargets(app, host, key, effect) };
    case "read-tip": {
      const read = await host.tip(repo, branch, effect.since, await liveHeads(app, key));
      if (read === "MISSING") {
        const what = `there is no branch ${branch} in ${repo.owner}/${repo.name}`;
        return { result: { type: "tip-missing", read: effect.read, what } };
      }
      return { result: { type: "tip", read: effect.read, ...read } };
    }
  }
}

type Of<T extends Effect["type"]> = Extract<Effect, { type: T }>;

async function build(app: QueueApp, host: CodeHost, key: QueueKey, effect: Of<"build-run">): Promise<QueueEvent> {
  const { run, branch, base, changes, mergeMethod, required } = effect;
  const request = { run, repo: key.repo, branch, base, changes, mergeMethod, required, targetBranch: key.branch };
  const built = await host.buildRun({ ...request, opensDraft: await opensDraft(app, host, key) });
  return built.ok ? { type: "run-built", run, ...built.value } : { type: "run-not-built", run, why: built.why };
}

async function opensDraft(app: QueueApp, host: CodeHost, key: QueueKey): Promise<boolean> {
  if (host.opensPullRequests !== true) return false;
  const record = await app.queues.find(key);
  return record?.config.settings.createPrsForTestingBranches === true;
}

async function land(host: CodeHost, { repo, branch }: QueueKey, effect: Of<"land">): Promise<QueueEvent> {
  const { run, landing, commit, tree, base, expectedTip, changes, mergeMethod } = effect;
  const request = { run, repo, targetBranch: branch, commit, tree, base, expectedTip, changes, mergeMethod };
  const landed = await host.land(request);
  if (!landed.ok) return { type: "not-landed", landing, why: landed.why };
  const { tip, trees, landed: entries = changes.map((change) => change.entry), onMovedTip = false } = landed.value;
  return { type: "landed", landing, tip, trees, entries, onMovedTip };
}

/** What the checks of a run say now, as the loop is told it. */
export async function readStatuses(
  app: QueueApp,
  host: CodeHost,
  { repo }: QueueKey,
  run: Of<"read-statuses">["run"],
): Promise<QueueEvent> {
  const readAt = app.clock();
  const { statuses, complete, repeats, broken } = await host.statuses(repo, run);
  if (broken !== null) return { type: "run-broken", run, what: broken };
  return { type: "statuses", run, repeats, statuses, complete, readAt };
}

export async function readPullRequest(
  app: QueueApp,
  host: CodeHost,
  { repo, branch }: QueueKey,
  prNumber: number,
): Promise<QueueEvent> {
  const readAt = app.clock();
  const facts = await host.pullRequest(repo, prNumber, branch);
  if (facts !== "NOT_FOUND") return { type: "pull-request", prNumber, facts, readAt };
  const what = `${repo.owner}/${repo.name} has no pull request #${prNumber} any more`;
  return { type: "pull-request-unknown", prNumber, kind: "NOT_FOUND", what };
}

async function liveHeads(app: QueueApp, key: QueueKey) {
  const queue = await app.queues.view(key);
  const heads = [...(queue?.state.entries.values() ?? [])].flatMap((entry) => entry.headSha ?? []);
  return [...new Set(heads)];
}
