/** Counts requests, as GitHub's limits do. */
import { notifies } from "./shapes/published.ts";
import type { Operation } from "./shapes/used.ts";

export type Counts = {
  /** By `METHOD /template`. */
  readonly byRoute: ReadonlyMap<string, number>;
  readonly of: (operation: Operation) => number;
  readonly total: () => number;
  /** Everything that is not a GET, tokens apart: each takes five points where a GET takes one. */
  readonly writes: () => number;
  /** Those of which GitHub's reference warns that they may hit its limits on creating content. */
  readonly content: () => number;
  /** By GitHub's published prices: 1 for GET, 5 for anything else. */
  readonly points: () => number;
  readonly reset: () => void;
};

export function createCounts(): Counts & { readonly count: (operation: Operation) => void } {
  const byRoute = new Map<Operation, number>();
  const sum = (isCounted: (operation: Operation) => boolean): number =>
    [...byRoute].filter(([operation]) => isCounted(operation)).reduce((total, [, count]) => total + count, 0);
  const isRead = (operation: Operation): boolean => operation.startsWith("GET ");
  const isToken = (operation: Operation): boolean => operation.endsWith("/access_tokens");
  return {
    byRoute,
    count: (operation) => void byRoute.set(operation, (byRoute.get(operation) ?? 0) + 1),
    of: (operation) => byRoute.get(operation) ?? 0,
    total: () => sum(() => true),
    writes: () => sum((operation) => !isRead(operation) && !isToken(operation)),
    content: () => sum(notifies),
    points: () => sum(isRead) + 5 * sum((operation) => !isRead(operation)),
    reset: () => byRoute.clear(),
  };
}
