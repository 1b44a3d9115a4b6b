/** What is run: loads and factors for every policy, and the cases in which one setting is held against others. */
import { COMPARED_NAMES, FIXED_NAMES, ORACLE, TUNED, UNBATCHED } from "./policies.ts";
import { labelOf, type Workload, workload } from "./workload.ts";

export const PARTS = ["loads", "factors", "cases"] as const;
export type Part = (typeof PARTS)[number];

export type Cell = {
  readonly part: Part;
  readonly label: string;
  readonly load: Workload;
  readonly policies: readonly string[];
};

const cell = (part: Part, change: Partial<Workload>, policies: readonly string[]): Cell => {
  const load = workload(change);
  return { part, label: labelOf(load), load, policies };
};

const LOADS = [5, 20, 100, 400] as const;
const AROUND = [20, 100] as const;

/** One at a time, the rest as in the base. */
const FACTORS: readonly Partial<Workload>[] = [
  { burst: 15 },
  { success: 0.98 },
  { success: 0.85 },
  { overlap: 0.05 },
  { overlap: "CLUSTERED" },
  { flake: 0 },
  { flake: 0.01 },
  { flake: 0.1 },
  { workers: 0.25 },
  { workers: 2 },
  { repeatShare: 1 },
  { fixForward: 0.1 },
  { fixForward: 0.3 },
];

export const SATURATED: Partial<Workload> = { perHour: 20, workers: 0.25 };

/** How often changes fail, and runs that should not: good, usual, bad. */
const HEALTH: readonly Pick<Workload, "success" | "flake">[] = [
  { success: 0.98, flake: 0.01 },
  { success: 0.92, flake: 0.03 },
  { success: 0.85, flake: 0.1 },
];

const loads = (perHours: readonly number[]): readonly Cell[] =>
  perHours.map((perHour) => cell("loads", { perHour }, COMPARED_NAMES));

function factors(perHours: readonly number[], changes: readonly Partial<Workload>[]): readonly Cell[] {
  return perHours.flatMap((perHour) =>
    changes.map((change) => {
      const isSaturated = perHour === SATURATED.perHour && change.workers === SATURATED.workers;
      return cell("factors", { perHour, ...change }, [...COMPARED_NAMES, ...(isSaturated ? [UNBATCHED] : [])]);
    }),
  );
}

/**
 * 48 cases of nine settings in five worlds are 2,160 simulations, many of them of a queue that is overloaded: so many
 * changes in each keep the whole run within its two hours. A quick run takes its own number.
 */
const CASE_CHANGES = 600;

function cases(perHours: readonly number[]): readonly Cell[] {
  const policies = [ORACLE, TUNED, ...FIXED_NAMES];
  return perHours.flatMap((perHour) =>
    [0.25, 1].flatMap((workers) =>
      [0.005, 0.05].flatMap((overlap) =>
        HEALTH.map((health) =>
          cell("cases", { perHour, workers, overlap, ...health, changes: CASE_CHANGES }, policies),
        ),
      ),
    ),
  );
}

export const fullCells = (): readonly Cell[] => [...loads(LOADS), ...factors(AROUND, FACTORS), ...cases(LOADS)];

/** Enough for the overload to show, and little enough for two minutes. */
const QUICK_CHANGES = 800;

/** Every policy, and of everything something. */
export const quickCells = (): readonly Cell[] =>
  [
    ...loads(AROUND),
    ...factors([20], [{ overlap: "CLUSTERED" }, { workers: 0.25 }, { fixForward: 0.3 }]),
    ...cases([20]).filter(({ load }) => load.overlap === 0.005 && load.success === 0.92),
  ].map((one) => ({ ...one, load: { ...one.load, changes: QUICK_CHANGES } }));
