/** A bundle of test results that is to come: what it is called, and where it is put. Read by ./bundles.ts. */
import { later, MINUTE_MS } from "../../kernel/time.ts";
import type { BundleDoor, HealthApp, Repository } from "./ports.ts";

/** For so long the address takes the bundle. */
export const OPEN_MS = 15 * MINUTE_MS;
/** As it is sent, compressed. */
export const BUNDLE_BYTES_MAX = 256 * 1024 * 1024;

export type Announced = { readonly id: string; readonly url: string; readonly key: string };

export const uploadIdOf = (id: string): string => `bundle-${id}`;

/** Gives out an address for one bundle, and remembers that it is awaited. */
export async function announceBundle(
  app: HealthApp & { readonly uploads: BundleDoor },
  repository: Repository,
): Promise<Announced> {
  const id = app.newId();
  const [announcedAt, uploadId] = [app.clock(), uploadIdOf(id)];
  const waiting = { id, receivedAt: announcedAt, state: "WAITING", problem: null, facts: null, answer: null } as const;
  await app.health.putRecord(repository, waiting);
  await app.health.putBundle({ id, repository, announcedAt, failures: 0 });
  const grant = { uploadId, maxBytes: BUNDLE_BYTES_MAX, expiresAt: later(announcedAt, OPEN_MS) };
  return { id, url: await app.uploads.grantPut(grant), key: uploadId };
}
