/** Guesses about how the changes ahead turn out, from the likeliest on; nothing is enumerated before it is asked for. */
import { newHeap, pop, push } from "../heap.ts";

/** A change whose turn it is to be guessed about: what it depends on that is still open, and how likely each lands. */
export type Head = {
  readonly change: number;
  readonly open: readonly number[];
  readonly lands: readonly number[];
  /** The probability of its likeliest guess. */
  readonly best: number;
};

/** One guess: those of `open` that are assumed to land, in order. `score` is the probability that all of it is right. */
export type Guess = { readonly change: number; readonly landing: readonly number[]; readonly score: number };

type Candidate = {
  readonly head: Head;
  readonly score: number;
  /** Positions in `order` whose likelier outcome is turned round, ascending. */
  readonly flips: readonly number[];
  /** Positions of `open`, the cheapest to turn round first; worked out when the head is first drawn. */
  order: readonly number[] | undefined;
};

/** Draws the guesses of all heads, in order of falling score; earlier changes first where scores are equal. */
export function guesses(heads: readonly Head[]): () => Guess | undefined {
  const heap = newHeap<Candidate>(
    (a, b) => a.score > b.score || (a.score === b.score && a.head.change < b.head.change),
  );
  for (const head of heads) push(heap, { head, score: head.best, flips: [], order: undefined });
  return () => {
    const drawn = pop(heap);
    if (drawn === undefined) return undefined;
    for (const next of successors(drawn)) push(heap, next);
    return guessOf(drawn);
  };
}

/** By how much turning it round lowers the score, as a factor of at most 1. */
const factorOf = (p: number): number => Math.min(p, 1 - p) / Math.max(p, 1 - p);

/** Of a set of flips: one with the next position added, and one with its last moved on. Reaches every set once. */
function successors(drawn: Candidate): readonly Candidate[] {
  const { head, score, flips } = drawn;
  const { lands } = head;
  drawn.order ??= lands.map((_, at) => at).sort((a, b) => factorOf(lands[b] ?? 0) - factorOf(lands[a] ?? 0) || a - b);
  const { order } = drawn;
  const last = flips.at(-1);
  const next = last === undefined ? 0 : last + 1;
  const entering = order[next];
  if (entering === undefined) return [];
  const by = factorOf(lands[entering] ?? 0);
  const added: Candidate = { head, order, flips: [...flips, next], score: score * by };
  if (last === undefined) return [added];
  const leaving = factorOf(lands[order[last] ?? 0] ?? 0);
  return [added, { head, order, flips: [...flips.slice(0, -1), next], score: (score / leaving) * by }];
}

function guessOf({ head, score, flips, order }: Candidate): Guess {
  const turned = new Set(flips.map((flip) => order?.[flip]));
  const landing = head.open.filter((_, at) => (head.lands[at] ?? 0) >= 0.5 !== turned.has(at));
  return { change: head.change, landing, score };
}
