/** What the service said, to be held against it at the end. */
import type { PullRequest } from "./api.ts";

export type Ledger = ReturnType<typeof aLedger>;

export function aLedger() {
  const submitted = new Map<string, { readonly prNumber: number; urgent: boolean }>();
  const cancelled = new Map<string, number>();
  const pushed = new Set<string>();
  const answers = new Map<string, number>();
  const lost = new Map<string, number>();
  const failures: string[] = [];
  const count = (map: Map<string, number>, what: string): void => void map.set(what, (map.get(what) ?? 0) + 1);
  return {
    submitted,
    cancelled,
    /** Commits that somebody put on the target by hand. */
    pushed,
    answers,
    losses: lost,
    /** Answers that the service must never give. */
    failures,
    answered: (path: string, status: number, code: string, body: unknown): void => {
      count(answers, `${path} ${status}${code === "" ? "" : ` ${code}`}`);
      if (status === 500 || status === 400 || status === 401 || status === 403)
        failures.push(`${path} answered ${status}: ${JSON.stringify(body).slice(0, 300)}`);
    },
    lost: (path: string): void => count(lost, path),
    acknowledged: (pr: PullRequest, wish: { readonly urgent?: boolean; readonly cancel?: boolean }): void => {
      const known = submitted.get(pr.id) ?? { prNumber: pr.prNumber, urgent: false };
      submitted.set(pr.id, { ...known, urgent: known.urgent || wish.urgent === true });
      if (wish.cancel === true) cancelled.set(pr.id, pr.prNumber);
    },
  };
}
