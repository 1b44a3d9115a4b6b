/** The suites around what is being read, from the outermost to the innermost. */
import type { Attributes } from "./elements.ts";
import type { Issues, Place } from "./issues.ts";
import { type Producer, producerOf } from "./producers.ts";
import type { Counts } from "./report.ts";
import { disagreement, type OpenSuite } from "./suites.ts";
import type { Shorten } from "./text.ts";
import { timestampOf } from "./times.ts";

/** What a case has from the suites around it, "" where they do not say. */
export type Surroundings = { readonly parent: string; readonly file: string; readonly hostname: string };

export type SuiteStack = {
  /** A `testsuites`: it is there to hold others, and does not name them. */
  readonly openRoot: (attributes: Attributes, counts: Counts, at: Place) => void;
  readonly open: (attributes: Attributes, counts: Counts, at: Place) => void;
  /** Closes the innermost of either kind; an issue where its totals are not those of its cases. */
  readonly close: (counts: Counts) => void;
  readonly around: () => Surroundings;
  readonly producer: () => Producer | null;
  /** The earliest timestamp so far, milliseconds since the epoch. */
  readonly startedAt: () => number | null;
};

type Level = OpenSuite & { readonly around: Surroundings; readonly isSuite: boolean };

const NOWHERE: Surroundings = { parent: "", file: "", hostname: "" };

export function createSuiteStack(issues: Issues, shorten: Shorten): SuiteStack {
  const levels: Level[] = [];
  let root: Attributes | null = null;
  let producer: Producer | null = null;
  let startedAt: number | null = null;

  const push = (level: Level): void => {
    levels.push(level);
    const at = timestampOf(level.attributes.timestamp ?? "");
    if (at !== null && (startedAt === null || at < startedAt)) startedAt = at;
  };
  const around = (): Surroundings => levels.at(-1)?.around ?? NOWHERE;
  return {
    openRoot: (attributes, counts, at) => {
      root ??= attributes;
      push({ at, attributes, before: { ...counts }, around: around(), isSuite: levels.at(-1)?.isSuite ?? false });
    },
    open: (attributes, counts, at) => {
      producer ??= producerOf(root, attributes);
      const outer = around();
      const own: Surroundings = {
        parent: levels.at(-1)?.isSuite === true ? outer.parent : shorten(attributes.name),
        file: shorten(attributes.file ?? attributes.filepath) || outer.file,
        hostname: shorten(attributes.hostname) || outer.hostname,
      };
      push({ at, attributes, before: { ...counts }, around: own, isSuite: true });
    },
    close: (counts) => {
      const level = levels.pop();
      const wrong = level === undefined ? null : disagreement(level, counts);
      if (level !== undefined && wrong !== null) issues.add(level.at, wrong);
    },
    around,
    producer: () => producer,
    startedAt: () => startedAt,
  };
}
