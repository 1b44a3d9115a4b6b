/** What pull requests of a story hold on GitHub, and what a CI that reads it says. */
import { config } from "../../../support/git-repository.ts";
import type { Config } from "../../host/target.ts";
import type { Cast, Scenario } from "../scenario.ts";

export type Files = Readonly<Record<string, string>>;

const HELD = "prs/";

/** Nobody else's: which changes a commit contains is seen by them. */
export const holds = (number: number): string => `${HELD}${number}`;

const AREAS = ["app", "a", "b"];

export function filesOf(number: number, { areas = ["app"], conflictsWith }: Cast, prs: Scenario["prs"]): Files {
  const isConflicting = Object.values(prs).some((one) => one.conflictsWith === number);
  const text = conflictsWith ?? (isConflicting ? number : undefined);
  return {
    [holds(number)]: "here\n",
    ...Object.fromEntries(areas.map((area) => [`${area}/${number}.txt`, "1\n"])),
    ...(text === undefined ? {} : { [`text/${text}.txt`]: `as #${number} wants it\n` }),
  };
}

export function configOf({ required, mapsPaths }: Partial<Config>): Files {
  const names = required ?? ["unit"];
  const globs = Object.fromEntries(AREAS.map((area) => [area, [`${area}/**`]]));
  // Where every change is, no area is.
  const targets =
    mapsPaths === true ? { ...globs, all: ["text/**", ".mainline.yaml"], none: [`${HELD}**`] } : undefined;
  return config({}, names, targets);
}

export const numbersIn = (paths: readonly string[]): ReadonlySet<number> =>
  new Set(paths.filter((path) => path.startsWith(HELD)).map((path) => Number(path.slice(HELD.length))));

/** Of all changes together, whatever order they came in. */
export function isGood(prs: Scenario["prs"], contained: ReadonlySet<number>): boolean {
  const castOf = (number: number): Cast => prs[number] ?? {};
  const mended = new Set([...contained].map((number) => castOf(number).mends));
  const isMended = (number: number): boolean => Object.values(prs).some((one) => one.mends === number);
  return [...contained].every((number) => {
    const { isBad = false, clashesWith } = castOf(number);
    if (isBad || (isMended(number) && !mended.has(number))) return false;
    return clashesWith === undefined || !contained.has(clashesWith);
  });
}
