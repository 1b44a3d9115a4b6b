/** The shape of effects as the outbox keeps them. */
import * as z from "zod";
import type { OutboxEffect } from "../queue/app/ports.ts";
import { MERGE_METHODS } from "../queue/engine/types.ts";
import { author, entryIdShape, runIdShape, sha, time, tree } from "./shapes.ts";

const text = z.string();
const count = z.number();

const change = z.object({
  entry: entryIdShape,
  prNumber: count,
  headSha: sha,
  title: text,
  author,
  date: time,
});
const mergeMethod = z.enum(MERGE_METHODS);

// Made when the first is read, which in most functions none ever is.
export const effect = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("build-run"),
      key: text,
      run: runIdShape,
      base: sha,
      branch: text,
      changes: z.array(change),
      mergeMethod,
      required: z.array(text),
    }),
    z.object({ type: z.literal("repeat-checks"), key: text, run: runIdShape, repeat: count, contexts: z.array(text) }),
    z.object({ type: z.literal("read-statuses"), key: text, run: runIdShape }),
    z.object({
      type: z.literal("ask-forgiveness"),
      key: text,
      run: runIdShape,
      repeats: count,
      contexts: z.array(text),
      startedAt: time,
      until: time,
    }),
    z.object({ type: z.literal("close-run"), key: text, run: runIdShape, branch: text }),
    z.object({
      type: z.literal("land"),
      key: text,
      landing: text,
      run: runIdShape.nullable(),
      commit: sha,
      tree,
      base: sha,
      expectedTip: sha,
      changes: z.array(change),
      mergeMethod,
    }),
    z.object({ type: z.literal("read-pull-request"), key: text, prNumber: count }),
    z.object({
      type: z.literal("compare-targets"),
      key: text,
      entry: entryIdShape,
      prNumber: count,
      headSha: sha,
      number: count,
    }),
    z.object({ type: z.literal("compute-targets"), key: text, entry: entryIdShape, prNumber: count, headSha: sha }),
    z.object({ type: z.literal("read-tip"), key: text, read: count, since: sha.nullable() }),
    z.object({
      type: z.literal("show"),
      key: text,
      at: time,
      prNumbers: z.array(count),
      anew: z.literal(true).optional(),
    }),
    z.object({
      type: z.literal("hear"),
      key: text,
      heard: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("COMMENT"), prNumber: count, id: count, at: time }),
        z.object({ kind: z.literal("LABEL"), prNumber: count, at: time }),
      ]),
    }),
  ]),
) satisfies z.ZodType<OutboxEffect>;
