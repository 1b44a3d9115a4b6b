/** Contents and impacted targets as the world knows them: plain lists of names, compared name by name. */
import { type CommitSha, commitSha } from "../../../shared/kernel/ids.ts";
import type { Targets } from "../../../shared/queue/engine/types.ts";

/** A change is named by its head, `<number>@<version>`; what somebody else pushed is named `push<n>`. */
export type Content = readonly string[];

export const shaOf = (content: Content): CommitSha => commitSha(content.join(","));

/** What a change impacts, by name. */
export type Names = "ALL" | readonly string[];

const TARGETS = ["a", "b", "c", "d"] as const;

/** One in twelve impacts all, one in twelve nothing, the rest one to three targets. */
export function someNames(at: number): Names {
  if (at % 12 === 0) return "ALL";
  if (at % 12 === 1) return [];
  const bits = [1, 2, 4, 8, 1, 2, 3, 6, 12, 7][Math.floor(at / 12) % 10] ?? 1;
  return TARGETS.filter((_, bit) => ((bits >> bit) & 1) === 1);
}

export const targetsOf = (names: Names): Targets =>
  names === "ALL" ? { kind: "ALL" } : { kind: "SET", digest: names.join("+"), count: names.length };

/** The names of what the queue holds: their digest is made of them. Null, for none known, shares one with everybody. */
export function namesOf(targets: Targets | null): Names {
  if (targets === null || targets.kind === "ALL") return "ALL";
  return targets.digest === "" ? [] : targets.digest.split("+");
}

export const shareOne = (a: Names, b: Names): boolean =>
  (a === "ALL" && (b === "ALL" || b.length > 0)) ||
  (b === "ALL" && a.length > 0) ||
  (a !== "ALL" && b !== "ALL" && a.some((name) => b.includes(name)));

/** One of them, whatever number says which. */
export const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];
