/** Zod shapes of the engine's values as they are stored. Each is held to the engine's type by the compiler. */
import * as z from "zod";
import { commitSha, entryId, groupId, queueId, runId, treeSha } from "../kernel/ids.ts";
import { epochMs } from "../kernel/time.ts";
import {
  type Asked,
  type EndedRun,
  ENTRY_STATES,
  type Entry,
  HOLD_KINDS,
  type Move,
  type PullRequestFacts,
  type QueueEvent,
  REASONS,
  type Run,
  STATUS_SOURCES,
  type Tip,
  type Untold,
} from "../queue/engine/types.ts";
import { fromBytes } from "./ascending.ts";

/**
 * Holds a shape to a type in both directions: what it gives is a `T`, and every field of `T`, optional ones too, has
 * its place. A field without one would be dropped silently at the next read.
 */
export const shapeOf =
  <T>() =>
  <S extends z.ZodType<T>>(schema: Exclude<keyof T, keyof z.output<S>> extends never ? S : never): S =>
    schema;

export const time = z.number().transform(epochMs);
export const sha = z.string().transform(commitSha);
export const tree = z.string().transform(treeSha);
export const entryIdShape = z.string().transform(entryId);
export const runIdShape = z.string().transform(runId);
export const queueIdShape = z.string().transform(queueId);
const text = z.string();
const count = z.number();

export const tip = shapeOf<Tip>()(
  z.object({
    sha,
    tree,
    required: z.object({ source: z.enum(STATUS_SOURCES), statuses: z.array(text) }).nullable(),
    configProblem: text.nullable(),
    targetsFromPaths: z.exactOptional(z.boolean()),
  }),
);

export const author = z.object({ name: text, email: text });
const statusCheck = z.object({
  context: text,
  state: z.enum(["PENDING", "SUCCESS", "FAILURE", "ERROR"]),
  url: text.nullable(),
  description: text.nullable(),
});

const facts = shapeOf<PullRequestFacts>()(
  z.object({
    number: count,
    state: z.enum(["OPEN", "CLOSED", "MERGED"]),
    draft: z.boolean(),
    title: text,
    url: text,
    author,
    headSha: sha,
    headBranch: text,
    baseBranch: text,
    fromFork: z.boolean(),
    mergeability: z.enum(["UNSPECIFIED", "IN_PROGRESS", "MERGEABLE", "NOT_MERGEABLE"]),
    judgedOn: sha.nullable(),
    obstacle: text.nullable(),
    own: z.exactOptional(z.object({ tip: sha, tree, statuses: z.array(statusCheck) }).nullable()),
  }),
);

const troubleKind = z.enum(["NOT_CONNECTED", "UNREACHABLE", "NOT_FOUND"]);
const priority = z.object({ value: count, byDefault: z.boolean() });
export const targets = z.union([
  z.object({ kind: z.literal("ALL") }),
  z.object({ kind: z.literal("SET"), digest: text, count }),
]);
const wish = z.object({ by: text, at: time });

export const asked = shapeOf<Asked>()(
  z.object({
    cancel: z.exactOptional(wish),
    restart: z.exactOptional(wish),
    priority: z.exactOptional(priority),
    noBatch: z.exactOptional(z.boolean()),
    targets: z.exactOptional(targets),
  }),
);

/** Written as bytes; a list is what was written before. */
const ascending = z.union([z.instanceof(Uint8Array).transform(fromBytes), z.array(count)]);

export const broken = z.object({ what: text, count, retryAt: time });
const conclusion = z.object({ reason: z.enum(REASONS), message: text });

export const entry = shapeOf<Entry>()(
  z.object({
    id: entryIdShape,
    prNumber: count,
    submittedAt: time,
    submittedBy: text,
    state: z.enum(ENTRY_STATES),
    stateChangedAt: time,
    headSha: sha.nullable(),
    pr: facts.nullable(),
    factsAt: time.nullable(),
    trouble: z.object({ kind: troubleKind, what: text, count, retryAt: time }).nullable(),
    askedAgainFor: sha.nullable(),
    priority,
    noBatch: z.boolean(),
    targets: targets.nullable(),
    lane: z.object({ number: count, overlaps: ascending, since: count, isolated: z.boolean() }).nullable(),
    comparing: z.object({ number: count, targets }).nullable(),
    computedFor: sha.nullable(),
    closedMsBefore: count,
    admittedAt: time.nullable(),
    place: count.nullable(),
    group: z.string().transform(groupId).nullable(),
    conflictsWith: entryIdShape.nullable(),
    broken: broken.nullable(),
    refusal: text.nullable(),
    lastRun: runIdShape.nullable(),
    verifiedBy: runIdShape.nullable(),
    firstTestAt: time.nullable(),
    testedMs: count,
    restartedAt: z.array(time),
    moves: count,
    endedAt: time.nullable(),
    conclusion: conclusion.nullable(),
    asked,
  }),
);

export const run = shapeOf<Run>()(
  z.object({
    id: runIdShape,
    kind: z.enum(["MAIN", "BISECTION", "TIP"]),
    group: z.array(entryIdShape),
    predecessors: z.array(entryIdShape),
    assumedOut: z.array(entryIdShape),
    base: sha,
    landingsBefore: count,
    phase: z.enum(["BUILDING", "TESTING", "PASSED", "FAILED", "REPEATING"]),
    branch: text,
    commit: sha.nullable(),
    tree: tree.nullable(),
    required: z.array(text),
    requiredSource: z.enum(STATUS_SOURCES),
    startedAt: time,
    testingSince: time.nullable(),
    deadline: time.nullable(),
    lateRead: z.enum(["NONE", "ASKED", "ANSWERED"]),
    statuses: z.array(statusCheck),
    complete: z.boolean(),
    repeats: count,
    failure: z
      .object({ kind: z.enum(["CHECKS", "TIMEOUT", "NO_REQUIRED_STATUSES"]), contexts: z.array(text) })
      .nullable(),
    endedAt: time.nullable(),
    forgiveness: z.exactOptional(z.object({ repeats: count, until: time, why: text.nullable() })),
  }),
);

export const endedRun = shapeOf<EndedRun>()(
  z.object({
    run,
    tested: z.array(z.object({ prNumber: count, title: text.nullable(), url: text.nullable() })),
    outcome: z.enum(["SUCCEEDED", "FAILED", "CANCELLED"]),
    why: text,
    at: time,
  }),
);

export const move = shapeOf<Move>()(
  z.object({
    entry: entryIdShape,
    prNumber: count,
    number: count,
    from: z.enum(ENTRY_STATES).nullable(),
    to: z.enum(ENTRY_STATES),
    reason: z.enum(REASONS),
    message: text,
    cause: text,
    run: runIdShape.nullable(),
    at: time,
  }),
);

export const hold = z.object({ kind: z.enum(HOLD_KINDS), since: time, detail: text });

export const landing = z.object({
  id: text,
  of: text,
  run: runIdShape.nullable(),
  group: z.array(entryIdShape),
  commit: sha,
  tree,
  base: sha,
  expectedTip: sha,
  attempt: count,
  sentAt: time,
  landed: z.boolean(),
  trouble: z.object({ what: text, retryAt: time }).nullable(),
  refused: z.exactOptional(text),
});

export const landedStep = z.object({
  number: count,
  from: sha,
  to: sha,
  entries: z.array(entryIdShape),
  voids: z.array(runIdShape),
  doubts: z.array(runIdShape),
  stale: z.array(runIdShape),
});

export const bisection = z.object({
  group: z.string().transform(groupId),
  parts: z.array(z.object({ members: z.array(entryIdShape), depth: count })),
});

export const untold = shapeOf<Untold>()(
  z.object({
    entries: z.array(entryIdShape),
    reason: z.enum(REASONS),
    message: text,
    cause: text,
    run: runIdShape.nullable(),
  }),
);

const notBuilt = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("CONFLICT"), entry: entryIdShape, with: entryIdShape.nullable(), paths: z.array(text) }),
  z.object({ kind: z.literal("OWN"), entry: entryIdShape, what: text }),
  z.object({ kind: z.literal("INFRASTRUCTURE"), what: text }),
]);

const notLanded = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("TIP_MOVED") }),
  z.object({ kind: z.literal("CONFLICT"), what: text }),
  z.object({ kind: z.literal("REFUSED"), what: text }),
  z.object({ kind: z.literal("INFRASTRUCTURE"), what: text }),
]);

/** What others leave in the inbox. Submissions, wishes and settings are read from where requests wrote them. */
export type InboxEvent = Exclude<QueueEvent, { type: "submitted" | "asked" | "configured" }>;

// Made when the first is read, which in most functions none ever is.
export const inboxEvent = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("wake") }),
    z.object({ type: z.literal("news"), prNumbers: z.array(count), tip: z.object({ sha: sha.nullable() }).nullable() }),
    z.object({ type: z.literal("pull-request"), prNumber: count, facts, readAt: time }),
    z.object({ type: z.literal("pull-request-unknown"), prNumber: count, kind: troubleKind, what: text }),
    z.object({ type: z.literal("tip"), read: count, tip, reached: z.array(sha) }),
    z.object({ type: z.literal("tip-missing"), read: count, what: text }),
    z.object({
      type: z.literal("targets-compared"),
      entry: entryIdShape,
      number: count,
      overlaps: z.array(count),
      isolated: z.boolean(),
    }),
    z.object({
      type: z.literal("forgiveness"),
      run: runIdShape,
      repeats: count,
      forgiven: z.array(z.object({ context: text, tests: z.array(text) })),
    }),
    z.object({ type: z.literal("targets-computed"), entry: entryIdShape, headSha: sha, targets }),
    z.object({ type: z.literal("run-built"), run: runIdShape, commit: sha, tree }),
    z.object({ type: z.literal("run-not-built"), run: runIdShape, why: notBuilt }),
    z.object({
      type: z.literal("statuses"),
      run: runIdShape,
      repeats: count,
      statuses: z.array(statusCheck),
      complete: z.boolean(),
      readAt: time.nullable(),
    }),
    z.object({ type: z.literal("run-broken"), run: runIdShape, what: text }),
    z.object({
      type: z.literal("landed"),
      landing: text,
      tip,
      trees: z.enum(["EQUAL", "DIFFERENT"]),
      entries: z.array(entryIdShape),
      onMovedTip: z.boolean(),
    }),
    z.object({ type: z.literal("not-landed"), landing: text, why: notLanded }),
  ]),
) satisfies z.ZodType<InboxEvent>;
