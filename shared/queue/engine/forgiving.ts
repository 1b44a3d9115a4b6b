import { type EpochMs, later, MINUTE_MS } from "../../kernel/time.ts";
import type { Draft } from "./draft.ts";
import type { QueueEvent, Run, RunFailure, StatusCheck } from "./types.ts";

/** Reports of what failed may come in that long after the failure itself. */
const LONGEST_WAIT_MS = 5 * MINUTE_MS;

/**
 * Where the queue forgives what only quarantined tests caused, a failed run asks once for each attempt whether its
 * reports say so. Until the answer, and for so long at most, the failure is neither repeated nor judged.
 */
export function askForgiveness(draft: Draft, run: Run, failure: RunFailure): void {
  if (!draft.config.settings.forgiveQuarantined || run.kind === "TIP" || failure.kind !== "CHECKS") return;
  const until = later(draft.now, LONGEST_WAIT_MS);
  draft.setRun({ ...run, forgiveness: { repeats: run.repeats, until, why: null } });
  draft.add({
    type: "ask-forgiveness",
    key: `forgive:${run.id}:${run.repeats}`,
    run: run.id,
    repeats: run.repeats,
    contexts: failure.contexts,
    startedAt: run.startedAt,
    until,
  });
}

/** When a failed run stops waiting to be forgiven; undefined when it does not wait. */
export function forgivenUntil({ now, config }: Pick<Draft, "now" | "config">, run: Run): EpochMs | undefined {
  const asked = run.forgiveness;
  if (asked === undefined || run.phase !== "FAILED" || asked.repeats !== run.repeats) return undefined;
  return config.settings.forgiveQuarantined && now < asked.until ? asked.until : undefined;
}

/** A check whose only failures were forgiven has passed, and says by what. An answer about another attempt is stale. */
export function foldForgiveness(draft: Draft, event: Extract<QueueEvent, { type: "forgiveness" }>): void {
  const run = draft.runs.get(event.run);
  if (run === undefined || event.repeats !== run.repeats || forgivenUntil(draft, run) === undefined) return;
  const forgiven = new Map(event.forgiven.map(({ context, tests }) => [context, tests]));
  const answered = { repeats: run.repeats, until: draft.now };
  if (run.failure?.contexts.every((context) => forgiven.has(context)) !== true) {
    draft.setRun({ ...run, forgiveness: { ...answered, why: null } });
    return;
  }
  const why = `only quarantined tests failed (${inShort([...new Set(event.forgiven.flatMap(({ tests }) => tests))])})`;
  const statuses = run.statuses.map((status) => (forgiven.has(status.context) ? pardoned(status, why) : status));
  draft.setRun({ ...run, statuses, forgiveness: { ...answered, why } });
}

const NAMED_MAX = 3;

const inShort = (tests: readonly string[]): string => {
  const more = tests.length > NAMED_MAX ? ` and ${tests.length - NAMED_MAX} more` : "";
  return tests.slice(0, NAMED_MAX).join(", ") + more;
};

const pardoned = (status: StatusCheck, why: string): StatusCheck =>
  status.state === "FAILURE" || status.state === "ERROR"
    ? { ...status, state: "SUCCESS", description: `forgiven: ${why}` }
    : status;
