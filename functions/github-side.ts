import type { OrgSlug, RepoKey } from "../shared/kernel/ids.ts";
import { systemClock } from "../shared/kernel/time.ts";
import { type DeliveryStore, deliveryStore } from "../shared/table/deliveries.ts";
import { githubRepositories } from "../shared/table/github-repositories.ts";
import { type InstallationStore, installationStore } from "../shared/table/installations.ts";
import { createRefusals, type Refusals } from "./refusals.ts";
import type { Side } from "./wiring.ts";

/** Where GitHub's own messages come in. */
export type GitHubDoor = {
  /** The App's; undefined where none is set up: nothing is let in then. */
  readonly gitHub: { readonly host: string; readonly webhookSecret: string } | undefined;
  readonly installations: InstallationStore;
  /** Of forks' workflows. */
  readonly refusals: Refusals;
  readonly deliveries: DeliveryStore;
  /** What an organization's queues call a repository that has this number at GitHub. */
  readonly repositoriesOfId: (org: OrgSlug, host: string, id: number) => Promise<readonly RepoKey[]>;
};

export const gitHubSide: Side<keyof GitHubDoor> = ({ table, gitHub, clock = systemClock }) => ({
  gitHub,
  installations: installationStore(table),
  refusals: createRefusals(),
  deliveries: deliveryStore(table, clock),
  repositoriesOfId: (org, host, id) => githubRepositories(table, org).repositoriesOfId(host, id),
});
