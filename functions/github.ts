/** GitHub joined to the table: one App, and of its installations each organization's own. */
import { createClient } from "../shared/code-host/github/client.ts";
import { createGitHubHost } from "../shared/code-host/github/host.ts";
import type { CodeHost, CodeHosts } from "../shared/code-host/port.ts";
import type { OrgSlug } from "../shared/kernel/ids.ts";
import { type Clock, systemClock } from "../shared/kernel/time.ts";
import type { Table } from "../shared/table/client.ts";
import { githubBudgets } from "../shared/table/github-budget.ts";
import { githubMemory } from "../shared/table/github-memory.ts";
import { githubShown } from "../shared/table/github-shown.ts";
import { installationStore } from "../shared/table/installations.ts";

export type GitHubAppSettings = {
  /** The name under which its repositories are known, `github.com`. */
  readonly host: string;
  readonly api: string;
  readonly appId: number;
  readonly privateKey: string;
  /** `none`: GitHub Enterprise Server limits nobody unless its administrator says so. */
  readonly limits?: "github.com" | "none" | undefined;
  /** Called when GitHub does not take these credentials. */
  readonly refused?: (() => void) | undefined;
};

export function gitHubHosts(table: Table, app: GitHubAppSettings, clock: Clock = systemClock): CodeHosts {
  const budgets = app.limits === "none" ? undefined : githubBudgets(table, app.host);
  const client = createClient(app, clock, budgets);
  const installations = installationStore(table);
  const byOrg = new Map<OrgSlug, CodeHost>();
  const make = (org: OrgSlug): CodeHost =>
    createGitHubHost({
      org,
      host: app.host,
      client,
      clock,
      memory: githubMemory(table, org, clock),
      pages: githubShown(table, org, clock),
      installationOf: async (of, host, account) => (await installations.ofAccount(of, host, account))?.id,
    });
  return (org, host) => {
    if (host !== app.host) return undefined;
    const made = byOrg.get(org) ?? make(org);
    byOrg.set(org, made);
    return made;
  };
}
