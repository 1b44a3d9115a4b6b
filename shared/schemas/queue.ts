import * as z from "zod";
import { submittedPullRequest } from "./pull-request.ts";
import { MODES, queueSettings, queueSettingsPatch } from "./queue-settings.ts";
import { queueRef, repo, repoView } from "./repo.ts";
import { enumIn, text, timeOut, wireEnum } from "./wire.ts";

/** What an operator may ask for; SWITCHING_MODES is set by the service alone. */
export const OPERATOR_STATES = ["RUNNING", "PAUSED", "DRAINING"] as const;
export const QUEUE_STATES = [...OPERATOR_STATES, "SWITCHING_MODES"] as const;

const operatorState = enumIn(OPERATOR_STATES);

const withStatuses = z.looseObject({ requiredStatuses: z.array(z.unknown()).length(0) });

/** An empty list of required statuses asks for nothing: it does not take the override away. */
function withoutEmptyStatuses(value: unknown): unknown {
  const read = withStatuses.safeParse(value);
  if (!read.success) return value;
  const { requiredStatuses: _, ...rest } = read.data;
  return rest;
}

export const createQueue = z.preprocess(
  withoutEmptyStatuses,
  queueRef.extend(queueSettingsPatch.shape).extend({ state: operatorState.optional() }),
);

export const updateQueue = z.preprocess(
  withoutEmptyStatuses,
  queueRef.extend(queueSettingsPatch.shape).extend({
    state: operatorState.optional(),
    reason: text(0, 1000).optional(),
    allowUrgent: z.boolean().optional(),
    clearHold: z.boolean().optional(),
    deleteRequiredStatuses: z.boolean().optional(),
  }),
);

export const listQueues = z.object({ repo: repo.optional() });

export const queue = queueSettings
  .extend({
    repo: repoView,
    branch: z.string(),
    state: wireEnum(QUEUE_STATES).meta({ description: "The strictest of operator, open windows and holds." }),
    stateChangedAt: timeOut,
    stateReason: z.string().nullable().meta({ description: "Who or what, and why." }),
    allowUrgent: z.boolean(),
    switchingTo: wireEnum(MODES).nullable().meta({ description: "While modes switch, the new one; else null." }),
  })
  .meta({ id: "Queue" });

export const queueWithPullRequests = queue
  .extend({
    enqueuedPullRequests: z
      .array(submittedPullRequest)
      .meta({ description: "In the order in which the queue will consider them." }),
    truncated: z.boolean().meta({ description: "There are more; /listPullRequests pages through them." }),
  })
  .meta({ id: "QueueWithPullRequests" });

export const queueList = z.object({ queues: z.array(queue) });
