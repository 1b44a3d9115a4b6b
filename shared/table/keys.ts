/**
 * Every key of the table, and nowhere else. A key is a list of parts, percent-encoded and joined by `#`, so that two
 * different lists never give the same key (branches may hold `#`). The first part of a partition key is the
 * organization, except for the keys in `WITHOUT_TENANT`.
 */
import type { EntryId, OrgSlug, QueueKey, RepoKey, RunId } from "../kernel/ids.ts";
import { type EpochMs, sortableTime } from "../kernel/time.ts";

export type Key = { readonly pk: string; readonly sk: string };

/** Encodes what would make a key ambiguous or unprintable, and nothing else, so that keys stay readable. */
const encode = (part: string): string =>
  part.replaceAll(/[^ !"$&-~]/gu, (char) =>
    [...new TextEncoder().encode(char)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );

export const joined = (...parts: readonly string[]): string => parts.map(encode).join("#");

const queueParts = (key: QueueKey): readonly string[] => [
  key.org,
  key.repo.host,
  key.repo.owner,
  key.repo.name,
  key.branch,
];

type Repository = { readonly org: OrgSlug; readonly repo: RepoKey };

const testParts = ({ org, repo }: Repository): readonly string[] => [org, repo.host, repo.owner, repo.name, "TESTS"];

/** Zero-padded, so that text order is number order. PR numbers reach 4294967295. */
const sortable = (number: number): string => String(number).padStart(10, "0");

/** First parts of partition keys that belong to no organization. */
export const WITHOUT_TENANT = [
  "=TOKEN",
  "=DUE",
  "=TESTS_DUE",
  "=BUNDLES",
  "=WAKINGS",
  "=INSTALLATION",
  "=ACCOUNT",
  "=DELIVERY",
  "=GITHUB_BUDGET",
] as const;

export const keys = {
  organization: (org: OrgSlug): Key => ({ pk: joined(org, "ORG"), sk: "ORG" }),
  /** A token by its hash: the authorizer's only look-up. Holds the organization. */
  tokenByHash: (sha256Hex: string): Key => ({ pk: joined("=TOKEN", sha256Hex), sk: "TOKEN" }),
  /** The same token in its organization's list. */
  tokenOf: (org: OrgSlug, tokenId: string): Key => ({ pk: joined(org, "TOKENS"), sk: joined(tokenId) }),
  tokensOf: (org: OrgSlug): string => joined(org, "TOKENS"),
  idempotency: (org: OrgSlug, tokenId: string, route: string, key: string): Key => ({
    pk: joined(org, "IDEMPOTENCY", tokenId, route, key),
    sk: "RECORD",
  }),

  /** One small item per queue that exists, for listing; and one for all organizations, for the sweep. */
  queuesOf: (org: OrgSlug): string => joined(org, "QUEUES"),
  queuePointer: (key: QueueKey): Key => ({ pk: joined(key.org, "QUEUES"), sk: joined(...queueParts(key).slice(1)) }),
  due: (key: QueueKey): Key => ({ pk: "=DUE", sk: joined(...queueParts(key)) }),
  allDue: (): string => "=DUE",

  /** A queue's live partition. The sort keys' first digit orders what is read together. */
  queue: (key: QueueKey): string => joined(...queueParts(key), "QUEUE"),
  config: (key: QueueKey): Key => ({ pk: keys.queue(key), sk: "1#CONFIG" }),
  meta: (key: QueueKey): Key => ({ pk: keys.queue(key), sk: "1#META" }),
  window: (key: QueueKey, id: string): Key => ({ pk: keys.queue(key), sk: `1#WINDOW#${joined(id)}` }),
  entry: (key: QueueKey, prNumber: number): Key => ({ pk: keys.queue(key), sk: `2#ENTRY#${sortable(prNumber)}` }),
  run: (key: QueueKey, run: RunId): Key => ({ pk: keys.queue(key), sk: `3#RUN#${joined(run)}` }),
  inbox: (key: QueueKey, at: EpochMs, id: string): Key => ({
    pk: keys.queue(key),
    sk: `4#INBOX#${sortableTime(at)}#${joined(id)}`,
  }),
  effect: (key: QueueKey, effect: string): Key => ({ pk: keys.queue(key), sk: `5#EFFECT#${joined(effect)}` }),

  /** A PR's own partition: its latest ended submission, and the moves of all its submissions. */
  pullRequest: (key: QueueKey, prNumber: number): string => joined(...queueParts(key), "PR", sortable(prNumber)),
  ended: (key: QueueKey, prNumber: number): Key => ({ pk: keys.pullRequest(key, prNumber), sk: "ENDED" }),
  move: (key: QueueKey, prNumber: number, at: EpochMs, entry: EntryId, number: number): Key => ({
    pk: keys.pullRequest(key, prNumber),
    sk: `MOVE#${sortableTime(at)}#${joined(entry)}#${sortable(number)}`,
  }),

  /** What ended, by time. */
  history: (key: QueueKey): string => joined(...queueParts(key), "HISTORY"),
  historyItem: (key: QueueKey, endedAt: EpochMs, entry: EntryId): Key => ({
    pk: keys.history(key),
    sk: `${sortableTime(endedAt)}#${joined(entry)}`,
  }),
  endedRun: (key: QueueKey, run: RunId): Key => ({ pk: joined(...queueParts(key), "RUNS", run), sk: "RUN" }),
  /** The queue's log: what each commit decided. */
  log: (key: QueueKey): string => joined(...queueParts(key), "LOG"),
  logLine: (key: QueueKey, at: EpochMs, version: number): Key => ({
    pk: keys.log(key),
    sk: `${sortableTime(at)}#${sortable(version)}`,
  }),

  /** Impacted targets belong to a PR's commit, not to a queue: they may come before the submission. */
  targets: (org: OrgSlug, repo: RepoKey, prNumber: number, sha: string): Key => ({
    pk: joined(org, repo.host, repo.owner, repo.name, "TARGETS", sortable(prNumber)),
    sk: joined(sha),
  }),
  /** What a set of targets is compared by, under the digest of that: sets that are the same are one. */
  targetHashes: (org: OrgSlug, digest: string): Key => ({ pk: joined(org, "TARGET_HASHES", digest), sk: "HASHES" }),
  /** Sets of tests, by the digest of their ids; what is large lies in parts beside it. */
  testSet: (of: Repository, digest: string): Key => ({ pk: joined(...testParts(of), "SET", digest), sk: "1#SET" }),
  testSetPart: (of: Repository, digest: string, part: number): Key => ({
    pk: joined(...testParts(of), "SET", digest),
    sk: `2#PART#${sortable(part)}`,
  }),
  /** Beside the set that it is told as changes of: many of these are read together. */
  testSetTold: (of: Repository, base: string, digest: string): Key => ({
    pk: keys.testSet(of, base).pk,
    sk: `3#TOLD#${joined(digest)}`,
  }),
  /** The set that the sets of a job are told as changes of. */
  testSetBase: (of: Repository, job: string): Key => ({ pk: joined(...testParts(of), "SET_BASES"), sk: joined(job) }),
  /** All uploads of test results, by the time at which they ran. */
  testUploads: (of: Repository): string => joined(...testParts(of), "UPLOADS"),
  testUpload: (of: Repository, at: EpochMs, id: string): Key => ({
    pk: keys.testUploads(of),
    sk: `${sortableTime(at)}#${joined(id)}`,
  }),
  testUploadRecord: (of: Repository, id: string): Key => ({ pk: joined(...testParts(of), "UPLOAD", id), sk: "UPLOAD" }),
  /** Failures of one day, `YYYY-MM-DD`; in it by test and hour. */
  failuresOn: (of: Repository, day: string): string => joined(...testParts(of), "FAILURES", day),
  failuresIn: (of: Repository, day: string, test: string, hour: number): Key => ({
    pk: keys.failuresOn(of, day),
    sk: `${joined(test)}#${String(hour).padStart(2, "0")}`,
  }),
  /** The test of such a sort key. */
  testOfFailures: (sk: string): string => decodeURIComponent(sk.slice(0, sk.lastIndexOf("#"))),
  tests: (of: Repository): string => joined(...testParts(of), "TEST"),
  test: (of: Repository, id: string): Key => ({ pk: keys.tests(of), sk: joined(id) }),
  testSettings: (of: Repository): Key => ({ pk: joined(...testParts(of), "SETTINGS"), sk: "SETTINGS" }),
  testsDue: (of: Repository): Key => ({ pk: "=TESTS_DUE", sk: joined(...testParts(of)) }),
  allTestsDue: (): string => "=TESTS_DUE",
  /** Bundles of test results that are on their way, of all organizations. */
  bundle: (id: string): Key => ({ pk: "=BUNDLES", sk: joined(id) }),
  allBundles: (): string => "=BUNDLES",

  /** Schedules that are to be made or removed, of all organizations. */
  waking: (name: string): Key => ({ pk: "=WAKINGS", sk: joined(name) }),
  allWakings: (): string => "=WAKINGS",

  /** A GitHub App's installation by its number: whose it is. A webhook names nothing else. */
  installation: (host: string, id: number): Key => ({
    pk: joined("=INSTALLATION", host, String(id)),
    sk: "INSTALLATION",
  }),
  /** The same installation by its account: a fork's workflow names a repository, and no organization. */
  installationOn: (host: string, account: string): Key => ({
    pk: joined("=ACCOUNT", host, account),
    sk: "INSTALLATION",
  }),
  /** The same installation in its organization, by the account that it is on. */
  installationOf: (org: OrgSlug, host: string, account: string): Key => ({
    pk: joined(org, "INSTALLATIONS"),
    sk: joined(host, account),
  }),
  /** A webhook that was taken in, by its delivery's id. */
  delivery: (host: string, id: string): Key => ({ pk: joined("=DELIVERY", host, id), sk: "DELIVERY" }),
  /** What a pull request's page on its code host shows of one queue. */
  shown: (key: QueueKey, prNumber: number): Key => ({ pk: keys.pullRequest(key, prNumber), sk: "SHOWN" }),
  /** What people said of a pull request in one queue, and how far a repository was looked through for that. */
  heard: (key: QueueKey, prNumber: number): Key => ({ pk: keys.pullRequest(key, prNumber), sk: "HEARD" }),
  heardIn: (org: OrgSlug, repo: RepoKey): Key => ({
    pk: joined(org, repo.host, repo.owner, repo.name, "HEARD"),
    sk: "LOOKED",
  }),
  /** What the connection to GitHub keeps of a run, and of one change merged onto one commit. */
  githubRun: (org: OrgSlug, run: RunId): Key => ({ pk: joined(org, "GITHUB_RUN", run), sk: "RUN" }),
  githubBuried: (org: OrgSlug, run: RunId): Key => ({ pk: joined(org, "GITHUB_RUN", run), sk: "BURIED" }),
  githubStep: (org: OrgSlug, repo: RepoKey, parent: string, head: string): Key => ({
    pk: joined(org, repo.host, repo.owner, repo.name, "GITHUB_STEP", parent, head),
    sk: "STEP",
  }),

  /** What an installation has spent within one hour. */
  githubBudget: (host: string, installation: number, hour: EpochMs): Key => ({
    pk: joined("=GITHUB_BUDGET", host, String(installation)),
    sk: sortableTime(hour),
  }),
  /** Partition and bounds of the hours that begin between two times. */
  githubBudgetsOf: (host: string, installation: number, from: EpochMs, to: EpochMs) =>
    [keys.githubBudget(host, installation, from).pk, sortableTime(from), sortableTime(to)] as const,
  /** Which repository of GitHub's a queue's is, and back. */
  githubRepository: (org: OrgSlug, repo: RepoKey): Key => ({
    pk: joined(org, "GITHUB_REPOSITORIES"),
    sk: joined(repo.host, repo.owner, repo.name),
  }),
  githubNamesOf: (org: OrgSlug, host: string, id: number): string => joined(org, "GITHUB_NAMES", host, String(id)),
  githubName: (org: OrgSlug, repo: RepoKey, id: number): Key => ({
    pk: keys.githubNamesOf(org, repo.host, id),
    sk: joined(repo.owner, repo.name),
  }),

  /** Head branch to PR number, for look-ups by `pr.branch`. */
  branchPointer: (key: QueueKey, headBranch: string): Key => ({
    pk: joined(...queueParts(key), "BRANCH", headBranch),
    sk: "BRANCH",
  }),
} as const;

/** Bounds of a read of the sets that are told from one, both inclusive. */
export const TOLD = ["3#TOLD#", "3#TOLD#\uffff"] as const;

/** Bounds of a read of the live partition, both inclusive. */
export const LIVE = {
  /** CONFIG, META, maintenance windows. */
  windows: ["1#", "1#\uffff"],
  /** CONFIG, META, windows, entries. */
  entries: ["1#", "2#\uffff"],
  /** CONFIG, META, windows, entries, runs. */
  runs: ["1#", "3#\uffff"],
  /** All of that and the inbox: what the loop folds. */
  inbox: ["1#", "4#\uffff"],
} as const;
