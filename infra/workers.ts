/**
 * The functions that no request calls: what wakes each, and what it takes. Read by the stacks, and by the local server
 * for its stream mappings and schedules.
 */

export type Trigger =
  /** Items that are inserted with this beginning of their sort key; so many partitions at the same time. */
  | { readonly kind: "stream"; readonly skPrefix: string; readonly batchSize: number; readonly atOnce: number }
  /** On one machine every ten seconds. */
  | { readonly kind: "every-minute" }
  /** Called by the gateway before any endpoint. */
  | { readonly kind: "authorizer" }
  /** Called at times that somebody set, and by rules that somebody made. */
  | { readonly kind: "scheduler" };

export type Worker<Name extends string = string> = {
  /** Also the name of its file in functions/workers. */
  readonly name: Name;
  readonly trigger: Trigger;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly reservedConcurrency?: number;
};

export const WORKERS = [
  // Every request that is not in the gateway's cache waits for it.
  { name: "authorize-token", trigger: { kind: "authorizer" }, timeoutSeconds: 5, memoryMb: 512 },
  {
    name: "advance-queue",
    trigger: { kind: "stream", skPrefix: "4#INBOX#", batchSize: 25, atOnce: 10 },
    timeoutSeconds: 60,
    memoryMb: 1024,
  },
  {
    name: "run-effects",
    // A queue whose code host is slow keeps few others waiting.
    trigger: { kind: "stream", skPrefix: "5#EFFECT#", batchSize: 25, atOnce: 10 },
    // As long as an effect is claimed for: one that takes longer is somebody else's by then.
    timeoutSeconds: 120,
    memoryMb: 1024,
  },
  // What takes longer than its minute is joined by one more of its kind, and not by one for each minute.
  { name: "sweep", trigger: { kind: "every-minute" }, timeoutSeconds: 300, memoryMb: 1024, reservedConcurrency: 2 },
  {
    name: "judge-tests",
    trigger: { kind: "every-minute" },
    timeoutSeconds: 300,
    memoryMb: 1024,
    reservedConcurrency: 2,
  },
  {
    name: "read-bundles",
    trigger: { kind: "every-minute" },
    timeoutSeconds: 300,
    // A bundle of 256 MiB and a report out of it are in memory at once.
    memoryMb: 3008,
    reservedConcurrency: 2,
  },
  { name: "maintenance-window", trigger: { kind: "scheduler" }, timeoutSeconds: 60, memoryMb: 512 },
] as const satisfies readonly Worker[];

export type WorkerName = (typeof WORKERS)[number]["name"];

/** Those that the table's stream wakes, with what each reads of it. */
export const STREAM_WORKERS = WORKERS.flatMap(({ name, trigger }) =>
  trigger.kind === "stream" ? [{ name, ...trigger }] : [],
);

/** Those that time wakes, again and again. */
export const MINUTE_WORKERS = WORKERS.filter(({ trigger }) => trigger.kind === "every-minute").map(({ name }) => name);
