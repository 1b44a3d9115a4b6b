/** The hourly budget of each token's installation, told in the headers of every answer. */
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
  /** Null, or how many seconds to wait before creating content again. */
  readonly takeContent: (authorization: string | undefined) => number | null;
  /** For tests of what happens when it ends. */
  limit: number;
  /** What GitHub lets an account create; without end, unless a test says otherwise. */
  contentPerMinute: number;
  contentPerHour: number;
};

/** Requests in an hour, as on an Enterprise Server whose administrator limits nobody. */
export const LIMITLESS = 1_000_000_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function createLimits(now: () => number, holder: (authorization: string) => string): Limits {
  const used = new Map<string, { since: number; count: number }>();
  const windowOf = (authorization = ""): { since: number; count: number } => {
    const key = holder(authorization);
    const found = used.get(key);
    if (found !== undefined && found.since + HOUR_MS > now()) return found;
    const fresh = { since: now(), count: 0 };
    used.set(key, fresh);
    return fresh;
  };
  const content = new Map<string, number[]>();
  const limits: Limits = {
    limit: 5_000,
    contentPerMinute: Infinity,
    contentPerHour: Infinity,
    takeContent: (authorization = "") => {
      const key = holder(authorization);
      const since = now() - HOUR_MS;
      const times = (content.get(key) ?? []).filter((at) => at > since);
      content.set(key, times);
      const waits = [[limits.contentPerMinute, MINUTE_MS] as const, [limits.contentPerHour, HOUR_MS] as const].map(
        ([most, span]) => {
          const first = times.filter((at) => at > now() - span).at(-most);
          return first === undefined ? 0 : first + span - now();
        },
      );
      const wait = Math.max(...waits);
      if (wait > 0) return Math.ceil(wait / 1000);
      times.push(now());
      return null;
    },
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
