/**
 * Answers that GitHub gave before. Asked with the mark of one, it says when nothing has changed, and that does not count
 * against what an installation may ask in an hour: a queue that is looked at every few seconds would use it up. What is
 * about commits by their names never changes, and is not asked for again.
 */
export type Known<Answer> = { readonly etag: string | undefined; readonly answer: Answer };

export type Answers<Answer> = {
  readonly of: (url: string) => Known<Answer> | undefined;
  readonly keep: (url: string, known: Known<Answer>) => void;
};

const MOST = 2_000;

/** The oldest goes first. */
export function createAnswers<Answer>(): Answers<Answer> {
  const kept = new Map<string, Known<Answer>>();
  return {
    of: (url) => kept.get(url),
    keep: (url, known) => {
      kept.delete(url);
      kept.set(url, known);
      const oldest = kept.keys().next();
      if (kept.size > MOST && oldest.done !== true) kept.delete(oldest.value);
    },
  };
}

const NAME = "[0-9a-f]{40}(?:[0-9a-f]{24})?";
const LASTING = new RegExp(`/git/commits/${NAME}$|/compare/${NAME}(?:\\.{3}|%2E{3})${NAME}(?:\\?|$)`, "u");

export const isLasting = (url: string): boolean => LASTING.test(url);
