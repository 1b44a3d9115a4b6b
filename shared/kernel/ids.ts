import type { Brand } from "./brand.ts";

/** An organization's slug: `[a-z0-9][a-z0-9-]{0,38}`. The first segment of nearly every stored key. */
export type OrgSlug = Brand<string, "OrgSlug">;
/** A commit's object name, forty (or sixty-four) lower-case hex digits. */
export type CommitSha = Brand<string, "CommitSha">;
/** A git tree's object name: what a commit contains, whatever its history. */
export type TreeSha = Brand<string, "TreeSha">;
/** One submission of a pull request. A PR that is submitted again gets a new one. */
export type EntryId = Brand<string, "EntryId">;
/** One or more entries tested as one. */
export type GroupId = Brand<string, "GroupId">;
/** One test of `tip + predecessors + group`. */
export type RunId = Brand<string, "RunId">;
/** One existence of a queue: deleting and creating it again gives another. */
export type QueueId = Brand<string, "QueueId">;

/** The only ways to make these from text; shapes are checked where the text comes in. */
export const orgSlug = (text: string): OrgSlug => text as OrgSlug;
export const commitSha = (text: string): CommitSha => text as CommitSha;
export const treeSha = (text: string): TreeSha => text as TreeSha;
export const entryId = (text: string): EntryId => text as EntryId;
export const groupId = (text: string): GroupId => text as GroupId;
export const runId = (text: string): RunId => text as RunId;
export const queueId = (text: string): QueueId => text as QueueId;

/** Gives a new identifier each time. A port: the core never draws random numbers. */
export type NewId = () => string;

/** Where a repository lives. All three parts are lower case: they compare without regard to case. */
export type RepoKey = { readonly host: string; readonly owner: string; readonly name: string };

/** Whose queue it is and what it merges into; identifies a queue to people and in keys. */
export type QueueKey = { readonly org: OrgSlug; readonly repo: RepoKey; readonly branch: string };

export const repoKey = (repo: { host: string; owner: string; name: string }): RepoKey => ({
  host: repo.host.toLowerCase(),
  owner: repo.owner.toLowerCase(),
  name: repo.name.toLowerCase(),
});

/** One line of text that is different for different queues, for maps and log lines. */
export const queueLabel = (key: QueueKey): string =>
  `${key.org}:${key.repo.host}/${key.repo.owner}/${key.repo.name}@${key.branch}`;
