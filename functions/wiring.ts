/** The composition root: adapters joined to ports. */
import type { CodeHosts } from "../shared/code-host/port.ts";
import type { EndpointPorts } from "../shared/http/use-case.ts";
import type { Log } from "../shared/kernel/log.ts";
import type { Clock } from "../shared/kernel/time.ts";
import type { BlobStore, QueueApp } from "../shared/queue/app/ports.ts";
import type { UploadDoor } from "../shared/queue/app/uploads.ts";
import type { WindowApp } from "../shared/queue/app/window-ports.ts";
import type { Scheduler } from "../shared/scheduler/port.ts";
import { forgivenOf } from "../shared/test-health/app/forgive.ts";
import type { BundleDoor, HealthApp } from "../shared/test-health/app/ports.ts";
import type { Table } from "../shared/table/client.ts";
import { type TokenStore, tokenStore } from "../shared/table/tokens.ts";
import { type GitHubDoor, gitHubSide } from "./github-side.ts";
import { healthSide } from "./health-side.ts";
import { maintenanceSide } from "./maintenance-side.ts";
import { putIn } from "./put-in.ts";

/** Everything a function may need. */
export type Wiring = EndpointPorts &
  WindowApp &
  HealthApp &
  GitHubDoor & {
    readonly tokens: TokenStore;
    readonly uploads: UploadDoor & BundleDoor;
    readonly scheduler: Scheduler;
  };

/** What differs between one machine and AWS. */
export type Parts = {
  readonly table: Table;
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly uploads: UploadDoor & BundleDoor;
  readonly hosts: CodeHosts;
  /** Absent: no host has pages for people. */
  readonly hasPages?: QueueApp["hasPages"];
  /** The GitHub App whose webhooks are let in. Absent: none is set up. */
  readonly gitHub?: GitHubDoor["gitHub"];
  /** Asked before each invocation: what is another than it was; undefined where nothing is. */
  readonly renewed?: () => Promise<Pick<Parts, "hosts" | "gitHub"> | undefined>;
  /** Set where one process at a time is this worker: what its earlier lives left half done is taken up at once. */
  readonly worker?: string;
  /** Absent: nobody wakes a queue at the edges of its maintenance windows but the sweep. */
  readonly scheduler?: Scheduler;
  /** Absent: this machine's. */
  readonly clock?: Clock;
};

const nobody: Scheduler = { put: async () => {}, remove: async () => {} };

/**
 * What one function needs of it all. Whatever it does not name is not bundled with it: most of the time that a function
 * takes to start goes into making the shapes of what is stored.
 */
export type Side<Names extends keyof Wiring> = (parts: Parts) => Pick<Wiring, Names>;

export const wired: Side<keyof Wiring> = (parts) => {
  const health = healthSide(parts);
  return {
    ...health,
    ...maintenanceSide(parts),
    ...gitHubSide(parts),
    forgives: (key, asked) => forgivenOf(health, { org: key.org, repo: key.repo }, asked),
    tokens: tokenStore(parts.table),
    scheduler: parts.scheduler ?? nobody,
  };
};

/** The local server and tests put theirs in before the first request. */
export const useWiring = putIn;
