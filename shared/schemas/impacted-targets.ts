import * as z from "zod";
import { documentedAs } from "./wire.ts";

export const TARGET_BYTES_MAX = 4096;
/** So many bad elements are named; a caller mends them all the same way. */
const ISSUES_MAX = 20;

export type ImpactedTargets = "ALL" | readonly string[];

type Problem = { readonly at: number; readonly message: string };

const tooLong = (target: string): boolean => {
  // A UTF-16 unit is at most three bytes of UTF-8 and at least one: most targets need no encoding to be judged.
  if (target.length * 3 <= TARGET_BYTES_MAX) return false;
  return target.length > TARGET_BYTES_MAX || new TextEncoder().encode(target).length > TARGET_BYTES_MAX;
};

function problemOf(target: unknown): string | undefined {
  if (typeof target !== "string") return "must be a string";
  if (target === "") return "must not be empty";
  if (tooLong(target)) return `must be at most ${TARGET_BYTES_MAX} bytes`;
  return target.isWellFormed() ? undefined : "must be well-formed Unicode (it holds a lone surrogate)";
}

/** One loop for up to millions of strings; a schema per element would cost a second and a gigabyte of issues. */
function problemsOf(targets: readonly unknown[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [at, target] of targets.entries()) {
    const message = problemOf(target);
    if (message !== undefined) problems.push({ at, message });
    if (problems.length === ISSUES_MAX) break;
  }
  return problems;
}

const isStrings = (values: readonly unknown[]): values is readonly string[] => problemsOf(values).length === 0;
const isAll = (value: unknown): boolean => typeof value === "string" && /^(?:IMPACTS_)?ALL$/iu.test(value);

function read(value: unknown, context: z.core.$RefinementCtx): ImpactedTargets {
  if (isAll(value)) return "ALL";
  if (Array.isArray(value)) return readList(value, context);
  context.addIssue({ code: "custom", message: 'must be a list of strings, or "ALL"', input: value });
  return z.NEVER;
}

function readList(values: readonly unknown[], context: z.core.$RefinementCtx): ImpactedTargets {
  if (isStrings(values)) return values;
  for (const { at, message } of problemsOf(values))
    context.addIssue({ code: "custom", message, path: [at], input: values[at] });
  return z.NEVER;
}

/** Duplicates are kept: counting them once is the use case's, which sorts them anyway. */
export const impactedTargets = documentedAs(z.unknown().transform(read), {
  description: `What the pull request changes. "ALL" (or "IMPACTS_ALL") overlaps with everything, [] with nothing. Each target is at most ${TARGET_BYTES_MAX} bytes.`,
  anyOf: [
    { type: "array", items: { type: "string", minLength: 1 } },
    { type: "string", enum: ["ALL", "IMPACTS_ALL"] },
  ],
});
