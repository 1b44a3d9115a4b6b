/** Whatever was acknowledged is there and came to the end that was promised. */
import type { PullRequest } from "./api.ts";
import type { Ledger } from "./ledger.ts";

export function judgeKept(ledger: Ledger, entries: readonly PullRequest[]): readonly string[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const wrong = [...ledger.failures];
  for (const [id, { prNumber, urgent }] of ledger.submitted) {
    const entry = byId.get(id);
    if (entry === undefined) wrong.push(`the submission ${id} of #${prNumber} was acknowledged and is not there`);
    // Whoever is cancelled right after has nothing of being urgent.
    else if (urgent && !entry.skipTheLine && entry.state !== "CANCELLED")
      wrong.push(`#${prNumber} (${id}) was acknowledged as urgent and is not`);
  }
  for (const [id, prNumber] of ledger.cancelled) {
    const state = byId.get(id)?.state;
    if (state !== "CANCELLED") wrong.push(`the cancelling of #${prNumber} (${id}) was acknowledged; it is ${state}`);
  }
  const ids = entries.map((entry) => entry.id);
  wrong.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `the submission ${id} is listed twice`));
  return wrong;
}
