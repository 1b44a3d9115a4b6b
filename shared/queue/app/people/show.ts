/** Shows people where their pull requests are. */
import type { Page, People } from "../../../code-host/people.ts";
import { type CodeHost, HostUnavailable, NotNow } from "../../../code-host/port.ts";
import { type QueueKey, queueLabel, type RunId } from "../../../kernel/ids.ts";
import { later, SECOND_MS } from "../../../kernel/time.ts";
import type { Entry } from "../../engine/types.ts";
import type { QueueApp } from "../ports.ts";
import { explainPullRequest } from "../pull-requests.ts";
import { viewTogether } from "../view-together.ts";
import type { Show } from "./showing.ts";
import { answerOf, answerOfStranger, pageOf, pageOfStranger, type Shown } from "./page.ts";

/** What else is to be done is not kept waiting for longer: the rest is shown when this is tried again. */
const SHOWN_IN_MS = 10 * SECOND_MS;
/** They share their readings of the queue. */
const AT_ONCE = 4;

export async function show(app: QueueApp, host: CodeHost, key: QueueKey, effect: Show): Promise<void> {
  const { people } = host;
  if (people === undefined) return;
  const until = later(app.clock(), SHOWN_IN_MS);
  const left = [...effect.prNumbers];
  const putOff: NotNow[] = [];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      if (app.clock() >= until) throw new HostUnavailable("showing the others takes long");
      const late = await unlessPutOff(() => showOne(app, people, key, effect, next));
      if (late !== undefined) putOff.push(late);
    }
  };
  const done = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const one of done) if (one.status === "rejected") throw one.reason;
  const [first] = putOff.toSorted((a, b) => a.until - b.until);
  if (first !== undefined) throw first;
}

/** Where one page has to wait, others may want what can be done at once. */
async function unlessPutOff(work: () => Promise<void>): Promise<NotNow | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof NotNow && !error.isForAll) return error;
    throw error;
  }
}

async function showOne(app: QueueApp, people: People, key: QueueKey, effect: Show, prNumber: number): Promise<void> {
  const page = (): Promise<Page | null> => pageNow(app, people, key, effect, prNumber);
  const refused = await people.show(key.repo, prNumber, key.branch, page);
  if (refused.length > 0)
    app.log.warn("a code host does not let a page be shown", { queue: queueLabel(key), prNumber, refused });
}

/** Null where there is no such queue any more. */
async function pageNow(
  app: QueueApp,
  people: People,
  key: QueueKey,
  { key: effectKey, anew }: Show,
  prNumber: number,
): Promise<Page | null> {
  const together = { ...app, queues: { ...app.queues, view: () => viewTogether(app.queues, key) } };
  const [explained, record, heard] = await Promise.all([
    explainPullRequest(together, key, prNumber),
    app.queues.find(key),
    app.heard.of(key, prNumber),
  ]);
  if (record === undefined) return null;
  const { branch } = key;
  const { settings } = record.config;
  const said = heard.said?.text ?? null;
  const answered = (text: () => string) => (anew === true ? { answer: { key: effectKey, text: text() } } : {});
  if (!explained.ok) return { ...pageOfStranger(branch, said, settings), ...answered(() => answerOfStranger(branch)) };
  const told = explained.value;
  const run = runOf(told.entry);
  const testUrl = run === null ? null : await people.runAt(key.repo, run);
  const shown: Shown = { branch, settings, told, testUrl, said };
  return { ...pageOf(shown), ...answered(() => answerOf(shown)) };
}

/** The run that its state is about. */
function runOf(entry: Entry): RunId | null {
  switch (entry.state) {
    case "NOT_READY":
    case "PENDING":
      return null;
    case "TESTING":
    case "TESTS_PASSED":
    case "PENDING_FAILURE":
      return entry.lastRun;
    case "MERGED":
    case "FAILED":
    case "CANCELLED":
      return entry.verifiedBy;
  }
}
