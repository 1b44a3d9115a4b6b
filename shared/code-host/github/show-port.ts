/** What is kept of the pages that were shown on GitHub. What is lost is found again there, or made again. */
import type { RepoKey } from "../../kernel/ids.ts";
import type { EpochMs } from "../../kernel/time.ts";

export type CommentShown = {
  readonly id: number;
  readonly digest: string;
  /** Somebody deleted one before. It is made again once, and no more. */
  readonly again: boolean;
};

export type CheckRunShown = {
  readonly id: number;
  readonly headSha: string;
  readonly digest: string;
  readonly open: boolean;
};

export type Part = "comment" | "answer" | "check" | "labels";

/** Digests are of what was shown, or refused. */
export type PageShown = {
  readonly comment: CommentShown | "UNWANTED" | null;
  readonly check: CheckRunShown | null;
  readonly labels: string | null;
  /** The key of the answer that was given last. */
  readonly answer: string | null;
  readonly refused: { readonly [Of in Part]?: string | undefined };
  /** When each was refused last. What has no time was refused long ago. */
  readonly refusedAt?: { readonly [Of in Part]?: EpochMs | undefined } | undefined;
};

export type PageOf = { readonly repo: RepoKey; readonly prNumber: number; readonly branch: string };

/** Held by one at a time. */
export type PageHeld = {
  readonly shown: PageShown;
  /** Notes what is shown by now, and holds it for a minute more. False: it was lost to somebody else. */
  readonly keep: (shown: PageShown) => Promise<boolean>;
  /** Lets others come, at once or after that time. True: somebody wanted to meanwhile, and may know of something newer. */
  readonly free: (afterMs?: number) => Promise<boolean>;
};

export type ShownStore = {
  /** Undefined while somebody else is at it, who is told. */
  readonly hold: (page: PageOf) => Promise<PageHeld | undefined>;
};
