/** The composition root: adapters joined to ports, once per cold start. */
import { randomUUID } from "node:crypto";
import type { CodeHosts } from "../shared/code-host/port.ts";
import type { EndpointPorts } from "../shared/http/use-case.ts";
import type { Log } from "../shared/kernel/log.ts";
import { systemClock } from "../shared/kernel/time.ts";
import type { BlobStore, QueueApp } from "../shared/queue/app/ports.ts";
import type { UploadDoor } from "../shared/queue/app/uploads.ts";
import { forgivenOf } from "../shared/test-health/app/forgive.ts";
import type { BundleDoor, HealthApp } from "../shared/test-health/app/ports.ts";
import { resolveSettings } from "../shared/schemas/queue-settings.ts";
import { claimant } from "../shared/table/claimant.ts";
import type { Table } from "../shared/table/client.ts";
import { healthStore } from "../shared/table/health-store.ts";
import { idempotencyStore } from "../shared/table/idempotency.ts";
import { queueStore } from "../shared/table/queue-store.ts";
import { targetsStore } from "../shared/table/targets-store.ts";
import { type TokenStore, tokenStore } from "../shared/table/tokens.ts";
import { crashPoints } from "./crash-points.ts";
import { type PartsOf, tableOnly } from "./parts.ts";
import { putIn, thatWasPutIn } from "./put-in.ts";

/** Everything a function may need. */
export type Wiring = EndpointPorts &
  QueueApp &
  HealthApp & { readonly tokens: TokenStore; readonly uploads: UploadDoor & BundleDoor };

/** What differs between one machine and AWS. */
export type Parts = {
  readonly table: Table;
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly uploads: UploadDoor & BundleDoor;
  readonly hosts: CodeHosts;
  /** Set where one process at a time is this worker: what its earlier lives left half done is taken up at once. */
  readonly worker?: string;
};

export function wired({ table, log, blobs, uploads, hosts, worker }: Parts): Wiring {
  const who = claimant(worker);
  const health = { health: healthStore(table, systemClock), clock: systemClock, newId: randomUUID, log };
  return {
    ...health,
    forgives: (key, asked) => forgivenOf(health, { org: key.org, repo: key.repo }, asked),
    resolveSettings,
    passing: crashPoints(process.env["MAINLINE_CRASH_AT"]),
    queues: queueStore(table, who),
    targets: targetsStore(table, blobs),
    tokens: tokenStore(table),
    idempotency: idempotencyStore(table, who),
    uploads,
    hosts,
  };
}

/** The local server and tests put theirs in before the first request. */
export const useWiring = putIn;

let made: Wiring | undefined;

/** Made of the function's environment, once per cold start. */
export function wiring(parts: PartsOf = tableOnly): Wiring {
  return thatWasPutIn() ?? (made ??= wired(parts(process.env)));
}
