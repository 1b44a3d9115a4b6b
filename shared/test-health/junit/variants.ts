/** Tells apart what Playwright calls the same: a test runs once per project, whose name stands as the suite's hostname. */
import type { Producer } from "./producers.ts";
import type { Case } from "./report.ts";
import { keyOf } from "./same-test.ts";
import type { Surroundings } from "./suite-stack.ts";

/**
 * Cases with the hostname around them as their variant, in a file of Playwright's, or where the same test is there under
 * two hostnames. Else as they are: the hostname is mostly that of a machine, and says nothing of the test.
 */
export function withVariants(
  cases: readonly Case[],
  around: readonly Surroundings[],
  producer: Producer | null,
): readonly Case[] {
  const isVariant = producer === "playwright" || isSameUnderTwo(cases, around);
  return isVariant ? cases.map((one, at) => ({ ...one, variant: around[at]?.hostname ?? "" })) : cases;
}

function isSameUnderTwo(cases: readonly Case[], around: readonly Surroundings[]): boolean {
  if (new Set(around.map((suite) => suite.hostname)).size < 2) return false;
  const hostOf = new Map<string, string>();
  for (const [at, one] of cases.entries()) {
    const hostname = around[at]?.hostname ?? "";
    const key = keyOf(one);
    const other = hostOf.get(key) ?? hostname;
    if (other !== hostname && other !== "" && hostname !== "") return true;
    hostOf.set(key, hostname === "" ? other : hostname);
  }
  return false;
}
