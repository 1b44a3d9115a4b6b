import { createHash } from "node:crypto";
import type { Place } from "./place.ts";
import type { PageShown } from "./show-port.ts";

/** What each part of a page is shown with. */
export type Showing = {
  readonly place: Place;
  readonly shown: PageShown;
  /** Around each call: none is begun late, and none is waited for for long. */
  readonly soon: <T>(call: () => Promise<T>) => Promise<T>;
};

export const digestOf = (shown: unknown): string =>
  createHash("sha256").update(JSON.stringify(shown)).digest("base64url");
