/**
 * Asks code hosts for what people said and no message told of: a message was lost, or the host cannot reach this machine
 * at all. What is found is left as a message would have left it, under the same marks.
 */
import type { People, Pull } from "../../../code-host/people.ts";
import { type OrgSlug, type QueueKey, queueLabel, type RepoKey } from "../../../kernel/ids.ts";
import { type EpochMs, epochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../kernel/time.ts";
import { leftBy, marksOf, type Saying } from "../hints.ts";
import type { QueueApp, QueueRecord } from "../ports.ts";
import { AGE_MS_MAX } from "./hear-comment.ts";
import { isCommand } from "./commands.ts";
import { isSameLabel } from "./labels.ts";
import type { LookedThrough } from "./ports.ts";

/** A repository is looked through once in a minute; a little less, so that a sweep every minute never just misses it. */
const LOOK_EVERY_MS = 50 * SECOND_MS;
/** Hosts may tell of something a little later than of what came after it. */
const OVERLAP_MS = 2 * MINUTE_MS;
/** Repositories at the same time. */
const AT_ONCE = 4;

export async function hearMissed(app: QueueApp, keys: readonly QueueKey[]): Promise<void> {
  const repositories = new Map<string, QueueKey[]>();
  for (const key of keys) {
    const name = [key.org, key.repo.host, key.repo.owner, key.repo.name].join(" ");
    repositories.set(name, [...(repositories.get(name) ?? []), key]);
  }
  const waiting = [...repositories.values()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await lookOrLog(app, next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function lookOrLog(app: QueueApp, keys: readonly QueueKey[]): Promise<void> {
  const [first] = keys;
  if (first === undefined) return;
  try {
    const people = app.hosts(first.org, first.repo.host)?.people;
    if (people !== undefined) await look({ app, people, org: first.org, repo: first.repo }, keys);
  } catch (error) {
    app.log.warn("a code host could not be asked what people said", { queue: queueLabel(first), error: String(error) });
  }
}

type Looking = { readonly app: QueueApp; readonly people: People; readonly org: OrgSlug; readonly repo: RepoKey };

async function look(on: Looking, keys: readonly QueueKey[]): Promise<void> {
  const { app, org, repo } = on;
  const now = app.clock();
  const before = await app.heard.lookedThrough(org, repo);
  if (before !== undefined && now - before.lookedAt < LOOK_EVERY_MS) return;
  const records = (await Promise.all(keys.map((key) => app.queues.find(key)))).filter((one) => one !== undefined);
  const hears = records.some(({ config: { settings } }) => settings.commandsEnabled);
  const labelled = records.filter(({ config: { settings } }) => settings.labelCommandsEnabled);
  if (!hears && labelled.length === 0) return;
  // Whoever begins has the repository to himself for a minute, also when the host does not answer.
  const begun = begin(before, now);
  if ((await app.heard.look(org, repo, before, begun)) === "CONFLICT" || before === undefined) return;
  const commentsSince = hears ? await hearComments(on, begun.commentsSince) : now;
  const pullsSince = labelled.length > 0 ? await hearLabels(on, labelled, begun.pullsSince) : now;
  await app.heard.look(org, repo, begun, { lookedAt: now, commentsSince, pullsSince });
}

/** The first look begins now; and what was said while nobody looked for long is not meant any more. */
function begin(before: LookedThrough | undefined, now: EpochMs): LookedThrough {
  if (before === undefined) return { lookedAt: now, commentsSince: now, pullsSince: now };
  const hasRested = now - before.lookedAt > HOUR_MS;
  const commentsSince = hasRested ? Math.max(before.commentsSince, now - AGE_MS_MAX) : before.commentsSince;
  return { ...before, lookedAt: now, commentsSince: epochMs(commentsSince) };
}

/** From when on to look the next time; as long as nothing is said the same, so that the host is asked the same. */
async function hearComments(on: Looking, since: EpochMs): Promise<EpochMs> {
  const { app, people, repo } = on;
  const { comments, until, isAll } = await people.commentsSince(repo, since);
  const oldest = app.clock() - AGE_MS_MAX;
  const sayings = comments
    .filter(({ at, author, body }) => at >= oldest && author.kind !== "SELF" && isCommand(body))
    .map(({ id, prNumber, body }): Saying => ({ kind: "COMMENT", prNumber, id, text: body }));
  const known = await app.heard.taken(repo.host, marksOf(sayings));
  for (const saying of sayings) {
    const marks = marksOf([saying]);
    if (!marks.some((mark) => known.has(mark))) await leave(on, [saying], marks, "look");
  }
  if (until === null) return since;
  // More of them than are told at once: the next look goes on there, and forward in any case.
  if (!isAll) return epochMs(Math.max(until, since + SECOND_MS));
  return epochMs(Math.max(since, until - OVERLAP_MS));
}

/** A pull request that carries the label, or did when it was submitted, and that changed since the last look. */
async function hearLabels(on: Looking, records: readonly QueueRecord[], since: EpochMs): Promise<EpochMs> {
  const { app, people, org, repo } = on;
  const { pulls, isAll } = await people.pullsSince(repo, since);
  if (!isAll)
    app.log.warn("more pull requests changed than are looked at: labels of those that changed first are not heard", {
      org,
      repository: `${repo.owner}/${repo.name}`,
      looked: pulls.length,
    });
  const ours = [...new Set(records.map(({ config }) => config.settings.enqueueingLabel))];
  // Hosts tell seconds: in one of them a label can come and go.
  const stateOf = ({ labels, changedAt }: Pull): string =>
    `${changedAt}:${ours.map((label) => (labels.some((one) => isSameLabel(one, label)) ? "+" : "-")).join("")}`;
  const markOf = (pull: Pull): string => `label:${org}:${repo.owner}/${repo.name}:${pull.number}:${stateOf(pull)}`;
  const known = await app.heard.taken(repo.host, pulls.map(markOf));
  for (const pull of pulls) {
    const { number, labels } = pull;
    const mark = markOf(pull);
    if (known.has(mark)) continue;
    const worthALook = new Set<string>();
    for (const { key, config } of records) {
      const { enqueueingLabel: label } = config.settings;
      const carries = labels.some((one) => isSameLabel(one, label));
      if (carries || ((await app.heard.of(key, number)).label?.entry ?? null) !== null) worthALook.add(label);
    }
    const sayings = [...worthALook].map((label): Saying => ({ kind: "LABEL", prNumber: number, label }));
    if (sayings.length > 0) await leave(on, sayings, [mark], stateOf(pull));
  }
  const newest = Math.max(since, ...pulls.map(({ changedAt }) => changedAt - OVERLAP_MS));
  return epochMs(newest);
}

const NOTHING = { prNumbers: [], branches: [], tested: [], moved: false } as const;

async function leave(on: Looking, sayings: readonly Saying[], marks: readonly string[], id: string): Promise<void> {
  const { app, org, repo } = on;
  const left = await leftBy(app, org, repo, { ...NOTHING, id, sayings });
  if (left.length > 0) await app.heard.take(repo.host, marks, left);
}
