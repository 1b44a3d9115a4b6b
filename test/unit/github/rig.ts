/** The service on GitHub's twin and a real table, without servers: what is left is performed when a test says so. */
import { rmSync } from "node:fs";
import { gitHubHosts } from "../../../functions/github.ts";
import { wired, type Wiring } from "../../../functions/wiring.ts";
import { orgSlug, type QueueKey } from "../../../shared/kernel/ids.ts";
import type { Log } from "../../../shared/kernel/log.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { advance } from "../../../shared/queue/app/advance.ts";
import { leftBy, marksOf, type Saying } from "../../../shared/queue/app/hints.ts";
import { hearMissed } from "../../../shared/queue/app/people/hear-missed.ts";
import { perform } from "../../../shared/queue/app/perform.ts";
import { createQueue } from "../../../shared/queue/app/queues.ts";
import type { SettingsPatch } from "../../../shared/queue/app/settings.ts";
import type { Entry } from "../../../shared/queue/engine/types.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";
import type { Tables } from "../../support/table.ts";

export const NAME = "acme/app";
export const REPO = { host: "github.com", owner: "acme", name: "app" };
const ORG = orgSlug("local");
export const ROLES = ["none", "read", "triage", "write", "maintain", "admin"] as const;

export type Rig = {
  readonly twin: GitHubTwin;
  readonly app: Wiring;
  readonly key: QueueKey;
  readonly queue: (branch: string, settings?: SettingsPatch) => Promise<QueueKey>;
  readonly set: (settings: SettingsPatch, key?: QueueKey) => Promise<void>;
  readonly change: (base?: string) => Promise<number>;
  /** As a webhook of this delivery says it. */
  readonly hinted: (saying: Saying, delivery?: string) => Promise<"TAKEN" | "SEEN" | "IGNORED">;
  /** Everything of this kind that is waiting, in order unless `reversed`. */
  readonly performs: (kind: "hear" | "show", key?: QueueKey, reversed?: boolean) => Promise<number>;
  /** The loop takes in what was asked of it. */
  readonly advances: () => Promise<void>;
  /** Says it, as a webhook brings it, and performs it. */
  readonly says: (prNumber: number, body: string, by?: string) => Promise<number>;
  readonly labels: (prNumber: number, by?: string, label?: string) => Promise<void>;
  readonly unlabels: (prNumber: number, by?: string, label?: string) => Promise<void>;
  /** What a sweep asks the host, a minute after the last. */
  readonly looks: () => Promise<void>;
  readonly entry: (prNumber: number, key?: QueueKey) => Promise<Entry | undefined>;
  readonly said: (prNumber: number, key?: QueueKey) => Promise<string | undefined>;
  readonly reactions: (prNumber: number) => readonly string[];
  /** For the service alone: at GitHub it is as early as it was. */
  readonly passes: (ms: number) => void;
  /** The process dies there, once. */
  readonly diesAt: (point: string) => void;
  readonly logged: () => string;
  readonly stop: () => Promise<void>;
};

const unused = async (): Promise<never> => Promise.reject(new Error("unused"));

/** The service's clock may be set back, so that it can pass without getting ahead of GitHub's. */
export async function aRig(tables: Tables, settings: SettingsPatch = {}, behindMs = 0): Promise<Rig> {
  const folder = aFolder();
  let passedMs = -behindMs;
  const clock = () => epochMs(Date.now() + passedMs);
  const twin = await startGitHubTwin({ folder });
  await twin.addRepository(NAME, { files: { "a.txt": "1\n" } });
  for (const role of ROLES) twin.setRole(NAME, role, role);
  const table = await tables.another();
  const lines: string[] = [];
  const keep = (message: string, about?: object): void => void lines.push(JSON.stringify({ message, ...about }));
  const log: Log = { info: keep, warn: keep, error: keep };
  const { appId, privateKey } = twin.app;
  let deadly: string | undefined;
  const made = wired({
    table,
    log,
    blobs: { put: unused, get: unused },
    uploads: { grantUpload: unused, readUpload: unused, grantPut: unused, removeUpload: unused },
    hosts: gitHubHosts(table, { host: REPO.host, api: twin.url, appId, privateKey }, clock),
    hasPages: () => true,
    clock,
  });
  const passing = (point: string): void => {
    if (point !== deadly) return;
    deadly = undefined;
    throw new Error(`died at ${point}`);
  };
  const app: Wiring = { ...made, passing };
  const installation = await twin.installation("acme");
  await app.installations.link({ org: ORG, host: REPO.host, id: installation, account: "acme" }, clock());
  const queue: Rig["queue"] = async (branch, patch = {}) => {
    const key = { org: ORG, repo: REPO, branch };
    const done = await createQueue(app, { key, repo: REPO, patch, state: undefined, by: "test" }, () => undefined);
    if (!done.ok) throw new Error(done.fault.message);
    return key;
  };
  const key = await queue("main", settings);
  const performs: Rig["performs"] = async (kind, of = key, reversed = false) => {
    const waiting = (await app.queues.waitingEffects(of, clock())).filter((one) => one.startsWith(`${kind}:`));
    for (const effect of reversed ? waiting.toReversed() : waiting) await perform(app, of, effect);
    return waiting.length;
  };
  let deliveries = 0;
  const hinted: Rig["hinted"] = async (saying, delivery = `delivery-${(deliveries += 1)}`) => {
    const nothing = { prNumbers: [], branches: [], tested: [], moved: false };
    const left = await leftBy(app, ORG, REPO, { ...nothing, id: delivery, sayings: [saying] });
    return left.length === 0 ? "IGNORED" : app.heard.take(REPO.host, [delivery, ...marksOf([saying])], left);
  };
  const toldOfLabel = async (prNumber: number, label: string): Promise<void> => {
    await hinted({ kind: "LABEL", prNumber, label });
    await performs("hear");
  };
  let changes = 0;
  return {
    twin,
    app,
    key,
    queue,
    performs,
    hinted,
    advances: () => advance(app, key),
    set: async (patch, of = key) => {
      const record = await app.queues.find(of);
      if (record === undefined) throw new Error("no queue");
      await app.queues.update(record, { ...record, patch: { ...record.patch, ...patch } }, undefined);
    },
    change: (base = "main") => {
      const head = `change-${(changes += 1)}`;
      return twin.openPullRequest(NAME, { head, base, files: { [`${head}.txt`]: "1\n" } });
    },
    says: async (prNumber, body, by = "write") => {
      const id = await twin.comment(NAME, prNumber, by, body);
      await hinted({ kind: "COMMENT", prNumber, id, text: body.slice(0, 500) });
      await performs("hear");
      return id;
    },
    labels: async (prNumber, by = "write", label = "merge-queue") => {
      await twin.label(NAME, prNumber, label, by);
      await toldOfLabel(prNumber, label);
    },
    unlabels: async (prNumber, by = "write", label = "merge-queue") => {
      await twin.unlabel(NAME, prNumber, label, by);
      await toldOfLabel(prNumber, label);
    },
    looks: async () => {
      passedMs += 61_000;
      await hearMissed(app, await app.queues.list(ORG, REPO));
    },
    entry: async (prNumber, of = key) => (await app.queues.submissions(of, [prNumber])).get(prNumber)?.entry,
    said: async (prNumber, of = key) => (await app.heard.of(of, prNumber)).said?.text,
    reactions: (prNumber) =>
      twin.comments(NAME, prNumber).flatMap((one) => one.reactions.map((reaction) => reaction.content)),
    passes: (ms) => void (passedMs += ms),
    diesAt: (point) => void (deadly = point),
    logged: () => lines.join("\n"),
    stop: async () => {
      await twin.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
