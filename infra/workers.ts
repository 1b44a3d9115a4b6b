/**
 * The functions that no request calls: what wakes each, and what it needs. Read by the stacks, and by the local server
 * for its stream mappings and schedules.
 */

export type Trigger =
  /** Items that are inserted with this beginning of their sort key. */
  | { readonly kind: "stream"; readonly skPrefix: string; readonly batchSize: number; readonly atOnce: number }
  /** On one machine every ten seconds. */
  | { readonly kind: "every-minute" }
  /** Called by the gateway before any endpoint. */
  | { readonly kind: "authorizer" }
  /** Called at times that somebody set, and by rules that somebody made. */
  | { readonly kind: "scheduler" };

export type Worker = {
  /** Also the name of its file in functions/workers. */
  readonly name: string;
  readonly trigger: Trigger;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly reservedConcurrency?: number;
  /** Folders of the bucket, and what it does there. */
  readonly bucket: BucketRights;
};

export type Folder = "targets" | "uploads" | "bundles";
export type BucketRights = Readonly<Partial<Record<Folder, readonly ("GetObject" | "PutObject" | "DeleteObject")[]>>>;

export const WORKERS = [
  {
    name: "authorize-token",
    trigger: { kind: "authorizer" },
    // Every request that is not in the gateway's cache waits for it.
    timeoutSeconds: 5,
    memoryMb: 512,
    bucket: {},
  },
  {
    name: "advance-queue",
    trigger: { kind: "stream", skPrefix: "4#INBOX#", batchSize: 25, atOnce: 10 },
    timeoutSeconds: 60,
    memoryMb: 1024,
    bucket: {},
  },
  {
    name: "run-effects",
    // A queue whose code host is slow keeps no other waiting: each of ten has queues of its own.
    trigger: { kind: "stream", skPrefix: "5#EFFECT#", batchSize: 10, atOnce: 10 },
    // As long as an effect is claimed for: one that takes longer is somebody else's by then.
    timeoutSeconds: 120,
    memoryMb: 1024,
    bucket: { targets: ["GetObject", "PutObject"] },
  },
  {
    name: "sweep",
    trigger: { kind: "every-minute" },
    timeoutSeconds: 300,
    memoryMb: 1024,
    // A sweep that takes longer than a minute is joined by one more, not by one for each minute.
    reservedConcurrency: 2,
    bucket: { targets: ["GetObject", "PutObject"] },
  },
  {
    name: "judge-tests",
    trigger: { kind: "every-minute" },
    timeoutSeconds: 300,
    memoryMb: 1024,
    reservedConcurrency: 2,
    bucket: {},
  },
  {
    name: "read-bundles",
    trigger: { kind: "every-minute" },
    timeoutSeconds: 300,
    // A bundle of 256 MiB and what is in it are in memory at once.
    memoryMb: 3008,
    reservedConcurrency: 2,
    bucket: { bundles: ["GetObject", "DeleteObject"] },
  },
  {
    name: "maintenance-window",
    trigger: { kind: "scheduler" },
    timeoutSeconds: 60,
    memoryMb: 512,
    bucket: {},
  },
] as const satisfies readonly Worker[];

export type WorkerName = (typeof WORKERS)[number]["name"];
