import type { Settings } from "../engine/types.ts";

/** All settings of a queue: those that decide (the engine's) and those that only other parts of the service read. */
export type QueueSettings = Settings & {
  readonly trustForkTargets: boolean;
  readonly createPrsForTestingBranches: boolean;
  readonly commentsEnabled: boolean;
  readonly commandsEnabled: boolean;
  readonly statusCheckEnabled: boolean;
  readonly enqueueingLabel: string;
  readonly labelCommandsEnabled: boolean;
  readonly stateLabelsEnabled: boolean;
  readonly extensionEnabled: boolean;
  readonly allowedBotSubmitters: readonly string[];
  readonly batchingRules: readonly { readonly targetPattern: string; readonly policy: "ISOLATE" }[];
};

/** Only what somebody has set: what is absent follows the defaults, also when those change later. */
export type SettingsPatch = { readonly [Name in keyof QueueSettings]?: QueueSettings[Name] | undefined };
