/** What maintenance windows need of the world beyond what queues do. */
import type { OrgSlug, QueueKey } from "../../kernel/ids.ts";
import type { MaintenanceWindow } from "../../maintenance/windows.ts";
import type { Waking } from "../../scheduler/port.ts";
import type { Conflict, QueueApp, QueueRecord, Recorded } from "./ports.ts";

/** A queue as people made it, with its windows. Those that are over are among them for a while. */
export type WindowedQueue = { readonly record: QueueRecord; readonly windows: readonly MaintenanceWindow[] };

/** A schedule that is to be made, or (null) removed. */
export type WakingChange = { readonly name: string; readonly wanted: Waking | null };
export type StoredWaking = WakingChange & { readonly token: string };

export type WindowChange = {
  readonly window: MaintenanceWindow;
  readonly wakings: readonly WakingChange[];
  /** Ids of windows that are over for so long that they go. */
  readonly gone: readonly string[];
};

export type WindowStore = {
  readonly of: (key: QueueKey) => Promise<WindowedQueue | undefined>;
  /** All queues of an organization. */
  readonly ofOrganization: (org: OrgSlug) => Promise<readonly WindowedQueue[]>;
  /** The queue of a window. */
  readonly find: (org: OrgSlug, id: string) => Promise<QueueKey | undefined>;
  /** Writes the window, and what follows from it for whoever wakes, on condition of `record.revision`, which it raises. */
  readonly set: (
    record: QueueRecord,
    change: WindowChange,
    recorded: Recorded | undefined,
  ) => Promise<"SET" | Conflict>;
  readonly change: (wakings: readonly WakingChange[]) => Promise<void>;
  /** What has yet to be told to the scheduler. */
  readonly changes: () => Promise<readonly StoredWaking[]>;
  /** It was told; a later change of the same name stays. */
  readonly settled: (change: StoredWaking) => Promise<void>;
};

export type WindowApp = QueueApp & { readonly windows: WindowStore };
