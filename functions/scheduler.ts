/** For the function that makes and removes schedules. All others are bundled without the scheduler's client. */
import { eventBridgeScheduler } from "../shared/scheduler/event-bridge.ts";
import { withBucket } from "./bucket.ts";
import { BUCKET, readEnvironment, SCHEDULER, SERVICE } from "./environment.ts";
import type { PartsOf } from "./parts.ts";

export const withScheduler: PartsOf = (variables) => {
  const environment = readEnvironment(SERVICE.extend({ ...BUCKET.shape, ...SCHEDULER.shape }), variables);
  const scheduler = eventBridgeScheduler({
    group: environment.MAINLINE_SCHEDULER_GROUP,
    functionArn: environment.MAINLINE_WINDOW_FUNCTION_ARN,
    roleArn: environment.MAINLINE_SCHEDULER_ROLE_ARN,
    deadLettersArn: environment.MAINLINE_SCHEDULER_DLQ_ARN,
  });
  return { ...withBucket(variables), scheduler };
};
