/** Amazon EventBridge Scheduler. https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html */
import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { type EpochMs, epochMs, SECOND_MS, toRfc3339 } from "../kernel/time.ts";
import { callOf, ScheduleRefused, type Scheduler, type Waking } from "./port.ts";

export type EventBridge = {
  /** Of one deployment. */
  readonly group: string;
  readonly functionArn: string;
  /** What the scheduler becomes to call the function. */
  readonly roleArn: string;
  readonly deadLettersArn: string;
};

/** What comes later than this is no use to anybody: the sweep has been there many times. */
const RETRIED_SECONDS = 900;

export function eventBridgeScheduler(of: EventBridge, client = new SchedulerClient({})): Scheduler {
  return {
    put: async (waking) => {
      try {
        await put(client, inputOf(of, waking));
      } catch (error) {
        if (!(error instanceof ValidationException)) throw error;
        throw new ScheduleRefused(error.message, { cause: error });
      }
    },
    remove: async (name) => {
      try {
        await client.send(new DeleteScheduleCommand({ Name: name, GroupName: of.group }));
      } catch (error) {
        if (!(error instanceof ResourceNotFoundException)) throw error;
      }
    },
  };
}

async function put(client: SchedulerClient, input: CreateScheduleCommandInput): Promise<void> {
  try {
    await client.send(new CreateScheduleCommand(input));
  } catch (error) {
    // Made by somebody who died before saying so, or the end of a window's last opening that is not yet cleared away.
    if (!(error instanceof ConflictException)) throw error;
    await client.send(new UpdateScheduleCommand(input));
  }
}

const inputOf = (of: EventBridge, waking: Waking): CreateScheduleCommandInput => ({
  Name: waking.name,
  GroupName: of.group,
  ...expressionOf(waking.when),
  FlexibleTimeWindow: { Mode: "OFF" },
  ActionAfterCompletion: "DELETE",
  Target: {
    Arn: of.functionArn,
    RoleArn: of.roleArn,
    Input: JSON.stringify(callOf(waking)),
    DeadLetterConfig: { Arn: of.deadLettersArn },
    RetryPolicy: { MaximumEventAgeInSeconds: RETRIED_SECONDS, MaximumRetryAttempts: 10 },
  },
});

const expressionOf = (when: Waking["when"]) =>
  when.kind === "AT"
    ? { ScheduleExpression: `at(${toSecond(when.at)})`, ScheduleExpressionTimezone: "UTC" }
    : { ScheduleExpression: `cron(${when.cron})`, ScheduleExpressionTimezone: when.timeZone };

/** Without fractions, and not before the moment itself. */
const toSecond = (at: EpochMs): string =>
  toRfc3339(epochMs(Math.ceil(at / SECOND_MS) * SECOND_MS)).replace(/\.\d{3}Z$/u, "");
