import { epochMs, MINUTE_MS } from "../../shared/kernel/time.ts";
import type { Settings } from "../../shared/queue/engine/types.ts";
import type { Player } from "../properties/engine/player.ts";
import type { Edit } from "./broken-engine.ts";

/** Under what a breakage shows soonest; everything else is any. */
export type Under = {
  readonly settings?: Partial<Settings>;
  readonly begin?: (player: Player) => void;
  /** What happens now and then besides everything else. */
  readonly also?: (player: Player, a: number, b: number) => void;
};

/** A way to break the engine, and the promise that must notice it: what it says then. */
export type Breakage = {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly noticedBy: string;
  readonly says: RegExp;
  readonly under?: Under;
};

const paused = (player: Player): void => {
  const { now, state } = player;
  const operator = { state: "PAUSED", reason: null, since: now, allowUrgent: false } as const;
  const endsAt = epochMs(now + 5 * MINUTE_MS);
  const window = { id: "w", action: "DRAIN", startsAt: now, endsAt, reason: null, allowUrgent: false } as const;
  player.tell({ type: "configured", config: { ...state.config, operator, windows: [window] } });
};

export const BREAKAGES: readonly Breakage[] = [
  {
    name: "a merge without a pass",
    edits: [
      {
        file: "landing.ts",
        from: 'if (run.phase !== "PASSED") return false;',
        to: 'if (run.phase !== "PASSED" && run.phase !== "TESTING") return false;',
      },
    ],
    noticedBy: "the invariant landsOnlyEvidence",
    says: /^land:.*: its run has not passed$/u,
  },
  {
    name: "a slot overrun",
    edits: [
      {
        file: "runs.ts",
        from: "concurrency - draft.inProgress(false)",
        to: "concurrency + 1 - draft.inProgress(false)",
      },
    ],
    noticedBy: "the invariant slotsAreKept",
    says: /^more test runs than slots in the main lane$/u,
  },
  {
    name: "the order swapped",
    edits: [
      {
        file: "order.ts",
        from: "a.priority.value - b.priority.value",
        to: "b.priority.value - a.priority.value",
      },
    ],
    noticedBy: "the property overtakes",
    says: /^q-\d+ overtakes #\d+$/u,
  },
  {
    name: "the order of kept places swapped",
    edits: [
      {
        file: "order.ts",
        from: "(a.place ?? Number.POSITIVE_INFINITY) - (b.place ?? Number.POSITIVE_INFINITY) ||",
        to: "(b.place ?? Number.POSITIVE_INFINITY) - (a.place ?? Number.POSITIVE_INFINITY) ||",
      },
    ],
    noticedBy: "the invariant startsBehindAll",
    says: /^q-\d+ does not know of PR #\d+ ahead of it$/u,
  },
  {
    name: "a lost wake-up",
    edits: [{ file: "step.ts", from: "consider(entry.broken?.retryAt);", to: "" }],
    noticedBy: "the property that every admitted entry ends",
    says: /^does not settle: /u,
    under: {
      also: ({ state, mail }, a) => {
        const run = [...state.runs.keys()][a % Math.max(1, state.runs.size)];
        if (run !== undefined) mail.push({ type: "run-broken", run, what: "the runner died" });
      },
    },
  },
  {
    name: "a dropped effect",
    edits: [
      {
        file: "plan.ts",
        from: 'draft.add({ type: "repeat-checks", key: `repeat:${run.id}:${repeats}`, run: run.id, repeat: repeats, contexts });',
        to: "",
      },
    ],
    noticedBy: "the property that every admitted entry ends",
    says: /^does not settle: /u,
    under: { settings: { testingTimeoutMinutes: 0 } },
  },
  {
    name: "clearing by a run that is older than an overlapping landing",
    edits: [
      {
        file: "evidence.ts",
        from: ".filter((run) => !run.group.some((id) => landed.includes(id)))",
        to: '.filter((run) => run.phase !== "PASSED" && !run.group.some((id) => landed.includes(id)))',
      },
    ],
    noticedBy: "the property landsWhatWasTested, told from the target's own history",
    says: /^land:.*: it lacks .*, which landed and overlaps it$/u,
    under: { settings: { mode: "PARALLEL", canOptimisticallyMerge: true, pendingFailureDepth: 3, concurrency: 4 } },
  },
  {
    name: "a bisection that outlives a landing ahead of it",
    edits: [
      {
        file: "evidence.ts",
        from: ".filter((run) => !run.group.some((id) => landed.includes(id)))",
        to: '.filter((run) => run.kind !== "BISECTION" && !run.group.some((id) => landed.includes(id)))',
      },
    ],
    noticedBy: "the property landsWhatWasTested",
    says: /^land:.*: its content does not follow from the tip$/u,
    under: {
      settings: {
        mode: "SINGLE",
        concurrency: 2,
        batch: true,
        batchingMinSize: 4,
        bisectionConcurrency: 4,
        retriesBeforeFailure: 1,
        canOptimisticallyMerge: false,
        optimizationMode: "OFF",
      },
    },
  },
  {
    name: "evidence kept after a merge by hand",
    edits: [
      {
        file: "fold.ts",
        // As if a landing of the queue had brought the target there.
        from: "draft.lineage = [];",
        to: `const number = draft.totals.landings;
             draft.count({ landings: 1 });
             draft.lineage = [...draft.lineage, { number, from: draft.tip?.sha, to: tip.sha, entries: [], voids: [], doubts: [], stale: [] }];`,
      },
    ],
    noticedBy: "the property landsWhatWasTested",
    says: /^land:.*: its content does not follow from the tip$/u,
    under: {
      settings: { mode: "SINGLE" },
      also: ({ world, mail }, a, b) => {
        if (b % 8 === 0) world.mergeByHand(1 + (a % 8));
        mail.push({ type: "news", prNumbers: [], tip: { sha: world.tip().sha } });
      },
    },
  },
  {
    name: "a window that un-pauses",
    edits: [
      {
        file: "permits.ts",
        from: 'if (operator.state !== "RUNNING") {',
        to: 'if (operator.state !== "RUNNING" && !windows.some((window) => window.endsAt <= now)) {',
      },
    ],
    noticedBy: "the invariant startsOnlyWhenAllowed",
    says: /^q-\d+ started while the queue is PAUSED$/u,
    under: { begin: paused, also: (player, a, b) => player.passTime(a, b) },
  },
  {
    name: "an empty list of required statuses that passes",
    edits: [
      {
        file: "verdict.ts",
        from: 'return { kind: "FAILED", failure: { kind: "NO_REQUIRED_STATUSES", contexts: [] }, open: [] };',
        to: 'return { kind: "PASSED" };',
      },
      { file: "judge.ts", from: "if (lacking.length > 0 || required.length === 0)", to: "if (lacking.length > 0)" },
    ],
    noticedBy: "the invariant landsOnlyWhenAllowed",
    says: /^land:.*: nothing is required$/u,
    under: {
      begin: ({ world }) => {
        world.required = [];
      },
    },
  },
];
