/** The composition root: adapters joined to ports. */
import type { CodeHosts } from "../shared/code-host/port.ts";
import type { EndpointPorts } from "../shared/http/use-case.ts";
import type { Log } from "../shared/kernel/log.ts";
import type { BlobStore, QueueApp } from "../shared/queue/app/ports.ts";
import type { UploadDoor } from "../shared/queue/app/uploads.ts";
import { forgivenOf } from "../shared/test-health/app/forgive.ts";
import type { BundleDoor, HealthApp } from "../shared/test-health/app/ports.ts";
import type { Table } from "../shared/table/client.ts";
import { type TokenStore, tokenStore } from "../shared/table/tokens.ts";
import { healthSide } from "./health-side.ts";
import { putIn } from "./put-in.ts";
import { queueSide } from "./queue-side.ts";

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

/**
 * What one function needs of it all. Whatever it does not name is not bundled with it: most of the time that a function
 * takes to start goes into making the shapes of what is stored.
 */
export type Side<Names extends keyof Wiring> = (parts: Parts) => Pick<Wiring, Names>;

export const wired: Side<keyof Wiring> = (parts) => {
  const health = healthSide(parts);
  return {
    ...health,
    ...queueSide(parts),
    forgives: (key, asked) => forgivenOf(health, { org: key.org, repo: key.repo }, asked),
    tokens: tokenStore(parts.table),
  };
};

/** The local server and tests put theirs in before the first request. */
export const useWiring = putIn;
