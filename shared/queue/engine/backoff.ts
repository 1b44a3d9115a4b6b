import { type EpochMs, later, MINUTE_MS, SECOND_MS } from "../../kernel/time.ts";
import type { HostTrouble } from "./types.ts";

const FIRST_MS = 10 * SECOND_MS;
const LONGEST_MS = 10 * MINUTE_MS;

/** Ten seconds, doubling to ten minutes: how long to wait after the `count`-th failure of infrastructure in a row. */
export const retryAt = (now: EpochMs, count: number): EpochMs =>
  later(now, Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(count - 1, 10)));

/** When a host is asked again for facts that it did not give. One that is not connected needs a person first. */
export const askAgainAt = (now: EpochMs, kind: HostTrouble["kind"], count: number): EpochMs =>
  kind === "NOT_CONNECTED" ? later(now, LONGEST_MS) : retryAt(now, count);
