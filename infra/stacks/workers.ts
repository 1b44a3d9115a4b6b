/** What works without being asked: woken by the table's stream, by the minute, and at the times of maintenance windows. */
import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule, ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import { type Data, type Deployment, nameOf } from "../constructs/deployment.ts";
import { WorkerFunction } from "../constructs/worker.ts";
import { type DeclaredWindow, declaredSchedule } from "../../shared/schemas/maintenance.ts";
import { WORKERS, type Worker, type WorkerName } from "../workers.ts";

/** What a function needs to know to make schedules that wake windows, and may do for it. */
export type WindowClock = {
  readonly environment: Readonly<Record<string, string>>;
  readonly statements: () => readonly PolicyStatement[];
};

export class WorkersStack extends Stack {
  readonly workers: ReadonlyMap<WorkerName, WorkerFunction>;
  readonly clock: WindowClock;

  constructor(scope: Construct, id: string, deployment: Deployment, data: Data, props: StackProps) {
    super(scope, id, props);
    const workers = new Map<WorkerName, WorkerFunction>();
    const woken = WORKERS.filter((worker) => worker.trigger.kind !== "authorizer");
    for (const worker of woken) workers.set(worker.name, this.wake(deployment, data, worker));
    this.workers = workers;
    this.clock = this.windows(deployment);
  }

  private wake(deployment: Deployment, data: Data, worker: Worker<WorkerName>): WorkerFunction {
    const made = new WorkerFunction(this, worker.name, { deployment, data, worker });
    const { kind } = worker.trigger;
    if (kind === "stream") made.readStream(data.table.streamArn, worker.trigger);
    if (kind === "every-minute") this.everyMinute(made);
    return made;
  }

  /** A minute that was missed is made up for by the next one: nothing is kept to be done later. */
  private everyMinute({ name, service, deadLetters, deployment }: WorkerFunction): void {
    service.fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, `${name}-EveryMinute`, {
      ruleName: nameOf(deployment, name),
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new LambdaFunction(service.fn, {
          deadLetterQueue: deadLetters,
          retryAttempts: 0,
          maxEventAge: Duration.minutes(1),
        }),
      ],
    });
  }

  private windows(deployment: Deployment): WindowClock {
    const worker = this.worker("maintenance-window");
    const group = new ScheduleGroup(this, "Windows", { scheduleGroupName: nameOf(deployment) });
    const role = this.schedulerRole(group, worker);
    const target = {
      roleArn: role.roleArn,
      deadLetters: worker.deadLetters.queueArn,
      arn: worker.service.fn.functionArn,
    };
    for (const [at, window] of deployment.settings.maintenanceWindows.entries())
      this.declared(`DeclaredWindow${at}`, nameOf(deployment), window, target);
    const schedules = this.formatArn({
      service: "scheduler",
      resource: "schedule",
      resourceName: `${nameOf(deployment)}/*`,
    });
    return {
      environment: {
        MAINLINE_SCHEDULER_GROUP: nameOf(deployment),
        MAINLINE_SCHEDULER_ROLE_ARN: target.roleArn,
        MAINLINE_WINDOW_FUNCTION_ARN: target.arn,
        MAINLINE_SCHEDULER_DLQ_ARN: target.deadLetters,
      },
      statements: () => [
        new PolicyStatement({
          actions: ["scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule"],
          resources: [schedules],
        }),
        new PolicyStatement({
          actions: ["iam:PassRole"],
          resources: [target.roleArn],
          conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
        }),
      ],
    };
  }

  private worker(name: WorkerName): WorkerFunction {
    const found = this.workers.get(name);
    if (found === undefined) throw new Error(`there is no worker ${name}`);
    return found;
  }

  /** May call this one function, and leave what it could not call with. */
  private schedulerRole(group: ScheduleGroup, { service, deadLetters }: WorkerFunction): Role {
    return new Role(this, "WindowsRole", {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: {
          StringEquals: { "aws:SourceAccount": this.account, "aws:SourceArn": group.scheduleGroupArn },
        },
      }),
      inlinePolicies: {
        Wakes: new PolicyDocument({
          statements: [
            new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [service.fn.functionArn] }),
            new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] }),
          ],
        }),
      },
    });
  }

  private declared(
    id: string,
    groupName: string,
    window: DeclaredWindow,
    { arn, roleArn, deadLetters }: { arn: string; roleArn: string; deadLetters: string },
  ): void {
    const { expression, timeZone, input } = declaredSchedule(window);
    new CfnSchedule(this, id, {
      groupName,
      scheduleExpression: expression,
      scheduleExpressionTimezone: timeZone,
      flexibleTimeWindow: { mode: "OFF" },
      target: { arn, roleArn, input, deadLetterConfig: { arn: deadLetters } },
    });
  }
}
