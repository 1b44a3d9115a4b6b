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

/** Whoever may open a pull request decides how large the answers about it are: a comparison brings its patches. */
const CHARACTERS_MAX = 32 * 1024 * 1024;

/** Together no larger than that; the oldest goes first, and what is larger by itself is not kept. */
export function createAnswers<Answer extends { readonly data: unknown }>(): Answers<Answer> {
  const kept = new Map<string, Known<Answer> & { readonly size: number }>();
  let total = 0;
  const drop = (url: string): void => {
    total -= kept.get(url)?.size ?? 0;
    kept.delete(url);
  };
  return {
    of: (url) => kept.get(url),
    keep: (url, known) => {
      drop(url);
      const size = url.length + (JSON.stringify(known.answer.data) ?? "").length;
      if (size > CHARACTERS_MAX) return;
      kept.set(url, { ...known, size });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= CHARACTERS_MAX) return;
        drop(oldest);
      }
    },
  };
}

const NAME = "[0-9a-f]{40}(?:[0-9a-f]{24})?";
const LASTING = new RegExp(`/git/commits/${NAME}$|/compare/${NAME}(?:\\.{3}|%2E{3})${NAME}(?:\\?|$)`, "u");

export const isLasting = (url: string): boolean => LASTING.test(url);
