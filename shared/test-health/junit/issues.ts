/** What is wrong with a file, gathered while it is read. */
import { ISSUES_MAX } from "./caps.ts";
import type { Issue } from "./report.ts";

/** Counted from 1. */
export type Place = { readonly line: number; readonly column: number };

export const TOP: Place = { line: 1, column: 1 };

export type Issues = {
  readonly add: (place: Place, message: string) => void;
  /** Where one is as good as a thousand: only the first of those that share a message is kept. */
  readonly once: (place: Place, message: string) => void;
  readonly kept: readonly Issue[];
  /** How many were not kept. */
  readonly beyond: () => number;
};

export function createIssues(): Issues {
  const kept: Issue[] = [];
  const said = new Set<string>();
  let beyond = 0;
  const add = ({ line, column }: Place, message: string): void => {
    if (kept.length < ISSUES_MAX) kept.push({ line, column, message });
    else beyond += 1;
  };
  return {
    add,
    once: (place, message) => {
      if (said.has(message)) return;
      said.add(message);
      add(place, message);
    },
    kept,
    beyond: () => beyond,
  };
}

/** At most 100 in the order they were found, and where there are more, one that says how many. */
export function listOf(...all: readonly Issues[]): readonly Issue[] {
  const kept = all.flatMap((issues) => issues.kept);
  const beyond = all.reduce((sum, issues) => sum + issues.beyond(), Math.max(0, kept.length - ISSUES_MAX));
  const listed = kept.slice(0, ISSUES_MAX);
  return beyond === 0 ? listed : [...listed, { ...TOP, message: `${beyond} more issues are not listed.` }];
}

const QUOTED_CHARACTERS_MAX = 100;

/** A text of the file within a message: short, on one line. */
export function quoted(text: string): string {
  const start = text.slice(0, QUOTED_CHARACTERS_MAX).replaceAll(/\s+/gu, " ");
  return `"${start}${text.length > QUOTED_CHARACTERS_MAX ? "…" : ""}"`;
}
