/** The hourly budget of each token's installation, told in the headers of every answer. */
import { createHash } from "node:crypto";

export type Limits = {
  /** False: the budget is used up. */
  readonly take: (authorization: string | undefined) => boolean;
  readonly headers: (authorization: string | undefined) => Readonly<Record<string, string>>;
  readonly state: (authorization: string | undefined) => {
    limit: number;
    remaining: number;
    reset: number;
    used: number;
  };
  /** For tests of what happens when it ends. */
  limit: number;
};

const HOUR_MS = 3_600_000;

export function createLimits(now: () => number, holder: (authorization: string) => string): Limits {
  const used = new Map<string, { since: number; count: number }>();
  const windowOf = (authorization = ""): { since: number; count: number } => {
    const key = createHash("sha256").update(holder(authorization)).digest("hex");
    const found = used.get(key);
    if (found !== undefined && found.since + HOUR_MS > now()) return found;
    const fresh = { since: now(), count: 0 };
    used.set(key, fresh);
    return fresh;
  };
  const limits: Limits = {
    limit: 5_000,
    take: (authorization) => {
      const window = windowOf(authorization);
      window.count += 1;
      return window.count <= limits.limit;
    },
    state: (authorization) => {
      const { since, count } = windowOf(authorization);
      const remaining = Math.max(0, limits.limit - count);
      return { limit: limits.limit, remaining, reset: Math.ceil((since + HOUR_MS) / 1000), used: count };
    },
    headers: (authorization) => {
      const entries = Object.entries({ ...limits.state(authorization), resource: "core" });
      return Object.fromEntries(entries.map(([name, value]) => [`x-ratelimit-${name}`, `${value}`]));
    },
  };
  return limits;
}
