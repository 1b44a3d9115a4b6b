import { systemClock } from "../shared/kernel/time.ts";
import { type DeliveryStore, deliveryStore } from "../shared/table/deliveries.ts";
import { type InstallationStore, installationStore } from "../shared/table/installations.ts";
import type { Side } from "./wiring.ts";

/** Where GitHub's own messages come in. */
export type GitHubDoor = {
  /** The App's; undefined where none is set up: nothing is let in then. */
  readonly gitHub: { readonly host: string; readonly webhookSecret: string } | undefined;
  readonly installations: InstallationStore;
  readonly deliveries: DeliveryStore;
};

export const gitHubSide: Side<keyof GitHubDoor> = ({ table, gitHub, clock = systemClock }) => ({
  gitHub,
  installations: installationStore(table),
  deliveries: deliveryStore(table, clock),
});
