/**
 * A host on which people look at pull requests: what can be shown to them there, and what they say. Optional: a folder
 * of bare repositories has no such pages. Nothing here decides what lands; all of it may come late, or be left out while
 * the host wants fewer calls.
 */
import type { CommitSha, EntryId, RepoKey, RunId } from "../kernel/ids.ts";
import type { EpochMs } from "../kernel/time.ts";

/** All that a pull request's page is to show of one queue. What it shows already costs no call that writes. */
export type Page = {
  /** Of the queue: a pull request in two queues has two comments and two checks. */
  readonly branch: string;
  /** That it tells of. Labels are set for each, also where it wants those of the one before. Absent: there is none. */
  readonly submission?: EntryId | undefined;
  readonly headSha: CommitSha | null;
  /** In the host's markdown. Null: none is made, and one that is there stays as it is. */
  readonly comment: string | null;
  /** To somebody who asked: once for each key, in a comment of its own that stays as it is. Absent: nobody did. */
  readonly answer?: { readonly key: string; readonly text: string } | undefined;
  /** Null: as for the comment. */
  readonly check: CheckShown | null;
  /** `of` are all that are the queue's to put on and take off, `on` are those that are wanted now. */
  readonly labels: { readonly of: readonly string[]; readonly on: readonly string[] };
};

export type CheckShown = {
  readonly name: string;
  readonly state: "QUEUED" | "IN_PROGRESS" | "SUCCESS" | "FAILURE" | "NEUTRAL";
  readonly title: string;
  /** In the host's markdown. */
  readonly summary: string;
  /** Where the test can be looked at; null where there is nothing to look at yet. */
  readonly url: string | null;
};

/**
 * Something that somebody said on a pull request, to be looked at: the message itself is only a hint. `at` is when it was
 * first heard of here.
 */
export type Heard =
  | { readonly kind: "COMMENT"; readonly prNumber: number; readonly id: number; readonly at: EpochMs }
  | { readonly kind: "LABEL"; readonly prNumber: number; readonly at: EpochMs };

/** `SELF` is the service's own account, which is never listened to. */
export type Person = { readonly login: string; readonly kind: "USER" | "BOT" | "SELF" };

export type Comment = {
  readonly id: number;
  readonly prNumber: number;
  readonly body: string;
  readonly author: Person;
  readonly at: EpochMs;
  /** Later than `at` where somebody changed it since, who need not be its author. */
  readonly changedAt: EpochMs;
};

/** The last time that a label was put on a pull request, or taken off. A later one has a larger id. */
export type Labelled = { readonly id: number; readonly isOn: boolean; readonly by: Person; readonly at: EpochMs };

/** What a pull request's page says of it, as far as it matters to whoever asks something there. */
export type Pull = {
  readonly number: number;
  readonly base: string;
  readonly headSha: CommitSha;
  /** Its author pushes to it, whatever their right to the repository is. */
  readonly fromFork: boolean;
  readonly author: string;
  readonly state: "OPEN" | "CLOSED" | "MERGED";
  readonly labels: readonly string[];
  readonly changedAt: EpochMs;
};

/** What somebody may do in a repository, the least first. */
export const RIGHTS = ["NONE", "READ", "WRITE", "MAINTAIN"] as const;
export type Right = (typeof RIGHTS)[number];

export type People = {
  /**
   * Makes one pull request's page so. The page is asked for when nobody else is at it, so that the last word is the
   * newest. Answers what the host refuses, in words: that is not tried again for an hour, unless the page is another.
   */
  readonly show: (
    repo: RepoKey,
    prNumber: number,
    branch: string,
    page: () => Promise<Page | null>,
  ) => Promise<readonly string[]>;
  /** Where people can look at a test run; null where they cannot. */
  readonly runAt: (repo: RepoKey, run: RunId) => Promise<string | null>;
  readonly comment: (repo: RepoKey, id: number) => Promise<Comment | "NOT_FOUND">;
  /**
   * Comments of the repository's pull requests that were made or changed since, oldest change first; a bounded number.
   * Asked for the same time again it costs nothing where nothing changed.
   */
  readonly commentsSince: (
    repo: RepoKey,
    since: EpochMs,
  ) => Promise<{
    readonly comments: readonly Comment[];
    /** The time of the last change that was looked at; null where there was none. */
    readonly until: EpochMs | null;
    readonly isAll: boolean;
  }>;
  readonly pull: (repo: RepoKey, prNumber: number) => Promise<Pull | "NOT_FOUND">;
  /** Open pull requests that changed since, newest change first; not `isAll` where more did than are told at once. */
  readonly pullsSince: (
    repo: RepoKey,
    since: EpochMs,
  ) => Promise<{ readonly pulls: readonly Pull[]; readonly isAll: boolean }>;
  /** Null where none is known, which may be because the host is behind. */
  readonly labelled: (repo: RepoKey, prNumber: number, label: string) => Promise<Labelled | null>;
  readonly rightOf: (repo: RepoKey, login: string) => Promise<Right>;
  /** Tells the author of a comment, without a word, that nothing came of it. */
  readonly refuse: (repo: RepoKey, comment: number) => Promise<void>;
};
