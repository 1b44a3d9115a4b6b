/** What a code host's message means to the queues of its repository. A hint makes them look; it says nothing itself. */
import type { OrgSlug, QueueKey, RepoKey, RunId } from "../../kernel/ids.ts";
import { runId } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";
import { isCommand } from "./people/commands.ts";
import { isSameLabel } from "./people/labels.ts";
import type { Left, QueueApp } from "./ports.ts";
import type { QueueSettings } from "./settings.ts";

export type Hinted = {
  /** The message's own id: what it leaves is told apart from what others leave. */
  readonly id: string;
  readonly prNumbers: readonly number[];
  readonly branches: readonly string[];
  /** Testing branches, `mainline/pr-<n>/<run>`, on which a check has ended. */
  readonly tested: readonly string[];
  readonly sayings: readonly Saying[];
  /** Where the repository is, or whether it is reached, is another than it was. */
  readonly moved: boolean;
};

/** Something that was said on a pull request; a comment with its beginning. */
export type Saying =
  | { readonly kind: "COMMENT"; readonly prNumber: number; readonly id: number; readonly text: string }
  | { readonly kind: "LABEL"; readonly prNumber: number; readonly label: string };

/** A comment is taken once, however often and by whomever it is brought. */
export const marksOf = (sayings: readonly Saying[]): readonly string[] =>
  sayings.flatMap((one) => (one.kind === "COMMENT" ? [`comment:${one.id}`] : []));

export async function leftBy(
  app: Pick<QueueApp, "queues" | "clock">,
  org: OrgSlug,
  repo: RepoKey,
  hinted: Hinted,
): Promise<readonly Left[]> {
  const keys = await app.queues.list(org, repo);
  const left = await Promise.all(
    keys.map(async (key) => [
      ...newsOf(key, hinted),
      ...(await readsOf(app, key, hinted)),
      ...(await hearsOf(app, key, hinted)),
    ]),
  );
  return left.flat();
}

function newsOf(key: QueueKey, { prNumbers, branches, moved }: Hinted): readonly Left[] {
  const tip = moved || branches.includes(key.branch) ? { sha: null } : null;
  return tip === null && prNumbers.length === 0 ? [] : [{ key, event: { type: "news", prNumbers, tip } }];
}

/** A run's id begins with its queue's. */
async function readsOf(app: Pick<QueueApp, "queues">, key: QueueKey, hinted: Hinted): Promise<readonly Left[]> {
  const runs = hinted.tested.flatMap((branch): readonly RunId[] => {
    const last = branch.split("/").at(-1);
    return last === undefined ? [] : [runId(last)];
  });
  const record = runs.length === 0 ? undefined : await app.queues.find(key);
  return runs
    .filter((run) => record !== undefined && run.startsWith(`${record.id}-`))
    .map((run) => ({ key, effect: { type: "read-statuses", key: `${hintsOf(run)}${hinted.id}`, run } }));
}

const hintsOf = (run: RunId): string => `read-statuses:${run}:hint:`;
export const isOfHint = ({ run, key }: { readonly run: RunId; readonly key: string }): boolean =>
  key.startsWith(hintsOf(run));

/** Whether the queue is the one that is meant is seen by whoever looks: most comments do not say it. */
async function hearsOf(
  app: Pick<QueueApp, "queues" | "clock">,
  key: QueueKey,
  hinted: Hinted,
): Promise<readonly Left[]> {
  const sayings = hinted.sayings.filter((one) => one.kind === "LABEL" || isCommand(one.text));
  const settings = sayings.length === 0 ? undefined : (await app.queues.find(key))?.config.settings;
  if (settings === undefined) return [];
  return sayings.flatMap((one) => hearOf(key, settings, one, hinted.id, app.clock()) ?? []);
}

function hearOf(key: QueueKey, settings: QueueSettings, said: Saying, id: string, at: EpochMs): Left | undefined {
  const { prNumber } = said;
  if (said.kind === "COMMENT") {
    if (!settings.commandsEnabled) return undefined;
    const heard = { kind: "COMMENT", prNumber, id: said.id, at } as const;
    return { key, effect: { type: "hear", key: `hear:comment:${said.id}`, heard } };
  }
  if (!settings.labelCommandsEnabled || !isSameLabel(said.label, settings.enqueueingLabel)) return undefined;
  return { key, effect: { type: "hear", key: `hear:label:${prNumber}:${id}`, heard: { kind: "LABEL", prNumber, at } } };
}
