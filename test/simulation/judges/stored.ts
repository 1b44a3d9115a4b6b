/** Whether what is read is what was written: the state that one decision made is the one on which the next is made. */
import type { QueueState } from "../../../shared/queue/engine/types.ts";
import type { Book } from "./book.ts";
import type { Commit } from "./commits.ts";

export class StoredJudge {
  private last: { readonly version: number; readonly state: QueueState } | undefined;
  private readonly book: Book;

  constructor(book: Book) {
    this.book = book;
  }

  decided({ loaded, folded }: Commit): void {
    if (this.last?.version === loaded.version) this.compare(this.last.state, loaded.state, loaded.version);
    this.last = { version: loaded.version + 1, state: folded.decision.state };
  }

  private compare(written: QueueState, read: QueueState, version: number): void {
    const { config: _c, entries, runs, ...meta } = written;
    const { config: _d, entries: readEntries, runs: readRuns, ...readMeta } = read;
    const wrong = (what: string): void =>
      this.book.problem(`version ${version}: ${what} is not read as it was written`);
    for (const [name, value] of Object.entries(meta))
      if (!isAlike(value, Reflect.get(readMeta, name))) wrong(`meta ${name}`);
    // Requests write their wishes onto entries, and submit new ones, which the engine has yet to see.
    for (const [id, entry] of entries)
      if (!isAlike({ ...entry, asked: null }, { ...readEntries.get(id), asked: null }))
        wrong(`entry #${entry.prNumber}`);
    for (const [id, run] of runs) if (!isAlike(run, readRuns.get(id))) wrong(`run ${id}`);
    if (readEntries.size !== entries.size || readRuns.size !== runs.size) wrong("the number of entries or runs");
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** What is undefined and what is absent are the same. */
function isAlike(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return Object.is(a, b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    isAlike(Reflect.get(a, key), Reflect.get(b, key)),
  );
}
