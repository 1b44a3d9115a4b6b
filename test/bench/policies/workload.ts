/** What arrives, how often it fails, and how many workers there are. One cell of the tables is one of these. */
export type Workload = {
  readonly perHour: number;
  /** Changes that arrive at once; bursts come as often as keeps the hourly rate. */
  readonly burst: number;
  /** Mean of the share of changes that pass on their own. */
  readonly success: number;
  /** Probability that a run which should pass fails, drawn again for each attempt. */
  readonly flake: number;
  /** Share of pairs that overlap, or areas of which some are more popular than others. */
  readonly overlap: number | "CLUSTERED";
  /** Workers per hourly arrival. */
  readonly workers: number;
  /** What the confirming repeat takes, as a share of the run: only the failed jobs, or all. */
  readonly repeatShare: number;
  /** Share of bad changes that the next good change overlapping them happens to fix. */
  readonly fixForward: number;
  readonly changes: number;
};

export const BASE: Workload = {
  perHour: 20,
  burst: 1,
  success: 0.92,
  flake: 0.03,
  overlap: 0.005,
  workers: 1,
  repeatShare: 0.3,
  fixForward: 0,
  changes: 1_900,
};

export const workload = (change: Partial<Workload>): Workload => ({ ...BASE, ...change });

export const workersOf = ({ perHour, workers }: Workload): number => Math.max(1, Math.round(perHour * workers));

const LABELS: Readonly<Record<Exclude<keyof Workload, "perHour" | "changes">, (load: Workload) => string>> = {
  burst: (load) => `bursts of ${load.burst}`,
  success: (load) => `success ${load.success}`,
  flake: (load) => `flake ${load.flake}`,
  overlap: (load) => (load.overlap === "CLUSTERED" ? "clustered" : `overlap ${load.overlap}`),
  workers: (load) => `workers ${load.workers}x`,
  repeatShare: (load) => `repeat takes ${load.repeatShare}`,
  fixForward: (load) => `fix-forward ${load.fixForward}`,
};

/** The load and whatever differs from the base: `100/h, flake 0.1`. */
export function labelOf(load: Workload): string {
  const others = (Object.keys(LABELS) as (keyof typeof LABELS)[]).filter((name) => load[name] !== BASE[name]);
  return [`${load.perHour}/h`, ...others.map((name) => LABELS[name](load))].join(", ");
}
