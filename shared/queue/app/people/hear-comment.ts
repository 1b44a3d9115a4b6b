/** A comment that looked like a command. */
import type { Comment, Heard, Person, Pull, Right } from "../../../code-host/people.ts";
import type { Fault } from "../../../kernel/result.ts";
import { HOUR_MS, MINUTE_MS } from "../../../kernel/time.ts";
import { alreadyMerged } from "../faults.ts";
import type { PeopleEffect } from "../ports.ts";
import { submit } from "../submit.ts";
import { cancel, restart } from "../wishes.ts";
import { type Command, readCommand, type ReadCommand, URGENT } from "./commands.ts";
import { type Hearing, isLate, LATE, mayWrite, remember, rightOf, shows, signed, unheard } from "./hearing.ts";
import type { HeardOf } from "./ports.ts";

type OfComment = Extract<Heard, { kind: "COMMENT" }>;

/** What was said long before anybody listened is not meant any more. */
export const AGE_MS_MAX = HOUR_MS;
/** Each explanation that is asked for is a comment of its own. */
const EXPLAINED_EVERY_MS = MINUTE_MS;

const CROSSED = "something else was asked for at the same moment";
const AT_ONCE_MAX = 3;

export async function hearComment(on: Hearing, heard: OfComment): Promise<string | undefined> {
  let again: string | undefined = CROSSED;
  for (let n = 1; n <= AT_ONCE_MAX && again === CROSSED; n += 1) again = await hearOnce(on, heard);
  return again;
}

async function hearOnce(on: Hearing, heard: OfComment): Promise<string | undefined> {
  const { app, people, key, prNumber } = on;
  if (!on.settings.commandsEnabled) return undefined;
  const known = await app.heard.of(key, prNumber);
  if (known.done.includes(heard.id)) return undefined;
  const comment = await people.comment(key.repo, heard.id);
  if (comment === "NOT_FOUND") return unheard(on, { comment: heard.id, why: "it is not there any more" });
  const why = reasonAgainst(comment, heard);
  const read = readCommand(comment.body);
  if (why !== undefined || read === undefined)
    return unheard(on, { comment: heard.id, by: comment.author.login, why: why ?? "it is no command" });
  const pull = await people.pull(key.repo, prNumber);
  if (pull === "NOT_FOUND" || !(await isMeant(on, read, pull))) return undefined;
  return obey({ ...on, comment, pull, known }, read);
}

function reasonAgainst(comment: Comment, heard: OfComment): string | undefined {
  if (comment.author.kind === "SELF") return "it is the service's own";
  if (comment.prNumber !== heard.prNumber) return "it is of another pull request";
  if (heard.at - comment.at > AGE_MS_MAX) return "it was written more than an hour before it was heard";
  return undefined;
}

/** A pull request that goes elsewhere by now may still be in the queue that it was submitted to. */
async function isMeant({ app, key, prNumber }: Hearing, read: ReadCommand, { base }: Pull): Promise<boolean> {
  if (base === key.branch) return true;
  if (!read.ok || read.command.kind === "MERGE") return false;
  return (await app.queues.entry(key, prNumber)) !== undefined;
}

type Asked = Hearing & { readonly comment: Comment; readonly pull: Pull; readonly known: HeardOf };

async function obey(asked: Asked, read: ReadCommand): Promise<string | undefined> {
  const { author } = asked.comment;
  // Whoever may write may edit what others wrote, and nothing tells who did.
  if (asked.comment.changedAt > asked.comment.at) return refuse(asked, "it was edited: write another");
  const right = await rightOf(asked, author);
  if (!isEnough(right, read)) return refuse(asked, reasonOf(author, right));
  if (!read.ok) return say(asked, read.what);
  const { command } = read;
  if (command.kind === "MERGE" && command.priority === URGENT && right !== "MAINTAIN")
    return say(asked, "--priority=urgent goes ahead of everybody, and needs the right to maintain the repository.");
  const { id } = asked.comment;
  const again = await done(asked, command, right);
  if (again === undefined)
    asked.app.log.info("a command was heard", { prNumber: asked.prNumber, comment: id, by: author.login, ...command });
  return again;
}

const isEnough = (right: Right, read: ReadCommand): boolean =>
  mayWrite(right) || (right === "READ" && read.ok && read.command.kind === "WHY");

const reasonOf = ({ kind }: Person, right: Right): string =>
  kind === "BOT" ? "the queue's allowedBotSubmitters do not name it" : `their right is ${right}`;

/** Without a word: whoever may comment could make the service talk otherwise. */
async function refuse(asked: Asked, why: string): Promise<undefined> {
  const { people, key, comment } = asked;
  const { login, kind } = comment.author;
  unheard(asked, { comment: comment.id, by: login, why });
  if (kind === "USER") await people.refuse(key.repo, comment.id).catch(() => {});
}

function done(asked: Asked, command: Command, right: Right): Promise<string | undefined> {
  switch (command.kind) {
    case "MERGE":
      return merge(asked, command);
    case "CANCEL":
      return cancelled(asked);
    case "RESTART":
      return settle(asked, {}, (record) => restart(asked.app, wishOf(asked), record));
    case "WHY":
      return explain(asked, mayWrite(right) || asked.comment.author.login === asked.pull.author);
  }
}

const wishOf = ({ key, prNumber, comment }: Asked) => ({ key, prNumber, by: signed(comment.author) });

async function merge(asked: Asked, command: Extract<Command, { kind: "MERGE" }>): Promise<string | undefined> {
  const { app, prNumber, comment, known, pull } = asked;
  if (known.lastCancel > comment.id) return settled(asked, {});
  if (pull.state === "MERGED") return say(asked, alreadyMerged(prNumber).fault.message);
  if (pull.state === "CLOSED") return say(asked, `PR #${prNumber} is closed: open it again first.`);
  const other = otherHead(asked, command.head);
  if (other !== undefined) return say(asked, other);
  const { priority, noBatch } = command;
  const wanted = { ...wishOf(asked), priority, noBatch };
  return settle(asked, { lastMerge: comment.id }, (record) => submit(app, wanted, record));
}

/** What lands is what was there when it was asked for, as far as that can be known. */
function otherHead({ app, prNumber, comment, pull }: Asked, wanted: string | undefined): string | undefined {
  const head = pull.headSha.slice(0, 12);
  if (wanted !== undefined)
    return pull.headSha.startsWith(wanted) ? undefined : `the head of PR #${prNumber} is ${head}, and not ${wanted}.`;
  return isLate(app, pull, comment.at)
    ? `${LATE} If ${head} is what you looked at, say /merge --head=${head}.`
    : undefined;
}

async function cancelled(asked: Asked): Promise<string | undefined> {
  const { app, comment, known } = asked;
  if (known.lastMerge > comment.id) return settled(asked, {});
  return settle(asked, { lastCancel: comment.id }, (record) => cancel(app, wishOf(asked), record));
}

type Change = Partial<HeardOf>;
type Outcome = { readonly ok: true } | { readonly ok: false; readonly fault: Fault };

/** The change and its record are one; where nothing changes the record is written by itself. */
async function settle(
  asked: Asked,
  change: Change,
  work: (record: () => { readonly heard: { key: Asked["key"]; prNumber: number; next: HeardOf } }) => Promise<Outcome>,
): Promise<string | undefined> {
  const { key, prNumber, known } = asked;
  const next = noting(asked, { ...change, said: null }, known);
  const outcome = await work(() => ({ heard: { key, prNumber, next } }));
  // Nothing moves, perhaps, where it was so already: what could not be done before is taken off the page all the same.
  const shown = known.said === null ? [] : [shows(asked, `${asked.comment.id}`)];
  if (outcome.ok) return settled(asked, { ...change, said: null }, shown);
  if (outcome.fault.code === "UNAVAILABLE") return outcome.fault.message;
  return (await isElsewhere(asked, outcome.fault)) ? settled(asked, change) : say(asked, outcome.fault.message, change);
}

const noting = ({ comment }: Asked, change: Change, known: HeardOf): HeardOf => ({
  ...known,
  ...change,
  done: [...known.done.filter((one) => one !== comment.id), comment.id],
});

const settled = (asked: Asked, change: Change, also: readonly PeopleEffect[] = []): Promise<string | undefined> =>
  remember(
    asked,
    (known) => (known.done.includes(asked.comment.id) && also.length === 0 ? undefined : noting(asked, change, known)),
    also,
  );

/**
 * Told on the page, to everybody who looks at it: whoever asked may write there. Only if nothing else was done meanwhile:
 * what could not be cancelled may have been submitted at this moment.
 */
async function say(asked: Asked, text: string, change: Change = {}): Promise<string | undefined> {
  const { app, key, prNumber, known, comment } = asked;
  const next = noting(asked, { ...change, said: { text, at: app.clock() } }, known);
  const done = await app.heard.write({ key, prNumber, next }, [shows(asked, `${comment.id}`)]);
  return done === "WRITTEN" ? undefined : CROSSED;
}

/** It is in another queue, which hears the same comment, and does it. */
async function isElsewhere({ app, key, prNumber }: Asked, { code }: Fault): Promise<boolean> {
  if (code !== "PULL_REQUEST_NOT_FOUND" && code !== "PULL_REQUEST_NOT_IN_QUEUE") return false;
  const others = (await app.queues.list(key.org, key.repo)).filter((one) => one.branch !== key.branch);
  for (const other of others) if ((await app.queues.entry(other, prNumber)) !== undefined) return true;
  return false;
}

/** Everybody reads a public repository: others than those whom it concerns find the page as it is by now. */
function explain(asked: Asked, isConcerned: boolean): Promise<string | undefined> {
  const { app, known, comment } = asked;
  const now = app.clock();
  const isDue = known.explainedAt === null || now - known.explainedAt >= EXPLAINED_EVERY_MS;
  const isAnew = isConcerned && isDue;
  const shown = shows(asked, `${comment.id}`);
  const effect = isAnew ? { ...shown, anew: true as const } : shown;
  const change = isAnew ? { explainedAt: now } : {};
  return remember(asked, (then) => (then.done.includes(comment.id) ? undefined : noting(asked, change, then)), [
    effect,
  ]);
}
