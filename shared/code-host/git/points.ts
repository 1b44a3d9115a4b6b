/** Places of this host between a write and what follows from it; shared/queue/app/ports.ts names them among all. */
export type HostPoint =
  | "host:branch-made"
  | "host:job-recorded"
  | "host:result-written"
  | "host:close-recorded"
  | "host:branch-removed"
  | "host:target-moved"
  | "host:merge-noted";

/** Does nothing, except where a test wants the process to die. */
export type Passing = (point: HostPoint) => void;
