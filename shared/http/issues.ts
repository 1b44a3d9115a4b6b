/** Every problem of a request, in one voice: "pr.number" "must be an integer". */
import type * as z from "zod";
import { type Fault, type FaultIssue, fail } from "../kernel/result.ts";

type Raw = z.core.$ZodRawIssue;

const UNITS: Readonly<Record<string, string>> = { string: " character", array: " element" };

// Every number of a request is an integer.
const NOUNS: Readonly<Record<string, string>> = {
  int: "an integer",
  number: "an integer",
  string: "a string",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

function limit(side: string, value: unknown, origin: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be at ${side} ${String(value)}`;
  return `must have at ${side} ${String(value)}${unit}${Number(value) === 1 ? "" : "s"}`;
}

/** Passed to every parse; a schema that has words of its own keeps them. */
export function inWords(issue: Raw): string | undefined {
  if (issue.input === undefined && issue.code !== "custom") return "is required";
  if (issue.code === "invalid_type") return `must be ${NOUNS[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_small") return limit("least", issue.minimum, issue.origin);
  if (issue.code === "too_big") return limit("most", issue.maximum, issue.origin);
  return undefined;
}

/** `prs.3.number`; "" is the whole body. */
const toIssue = (issue: z.core.$ZodIssue): FaultIssue => ({
  path: issue.path.map(String).join("."),
  message: issue.message,
});

export const invalid = (error: z.core.$ZodError): { readonly ok: false; readonly fault: Fault<"INVALID_REQUEST"> } =>
  fail("INVALID_REQUEST", "The request does not match what this endpoint takes; see issues.", {
    issues: error.issues.map(toIssue),
  });
