/** What works without being asked: woken by the table's stream, by the minute, and at the times of maintenance windows. */
import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule, ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import { type Data, type Deployment, nameOf } from "../constructs/deployment.ts";
import { exception } from "../constructs/exception.ts";
import { type WindowClock, WorkerFunction } from "../constructs/worker.ts";
import { type DeclaredWindow, declaredSchedule } from "../../shared/schemas/maintenance.ts";
import { type Trigger, WORKERS, type Worker, type WorkerName } from "../workers.ts";

export class WorkersStack extends Stack {
  readonly workers: ReadonlyMap<WorkerName, WorkerFunction>;

  constructor(scope: Construct, id: string, deployment: Deployment, data: Data, props: StackProps) {
    super(scope, id, props);
    const workers = new Map<WorkerName, WorkerFunction>();
    const ofKind = (kind: Trigger["kind"]): readonly Worker<WorkerName>[] =>
      WORKERS.filter(({ trigger }) => trigger.kind === kind);
    const make = (worker: Worker<WorkerName>, clock?: WindowClock): WorkerFunction => {
      const made = new WorkerFunction(this, worker.name, { deployment, data, worker, clock });
      workers.set(worker.name, made);
      return made;
    };
    // First what schedules call, then who makes schedules.
    const [called] = ofKind("scheduler").map((worker) => make(worker));
    if (called === undefined) throw new Error("no worker is called by schedules");
    const clock = this.windows(deployment, called);
    for (const worker of ofKind("stream")) make(worker).readStream(data.table.streamArn);
    for (const worker of ofKind("every-minute")) this.everyMinute(make(worker, clock));
    this.workers = workers;
  }

  /** A minute that was missed is made up for by the next one: nothing is kept to be done later. */
  private everyMinute({ name, service, deadLetters, deployment }: WorkerFunction): void {
    const { fn } = service;
    fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    const why = "What fails goes to the function's dead-letter queue; a destination would keep it twice.";
    exception(fn, "Serverless-LambdaAsyncFailureDestination", why);
    new Rule(this, `${name}-EveryMinute`, {
      ruleName: nameOf(deployment, name),
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new LambdaFunction(fn, {
          deadLetterQueue: deadLetters,
          retryAttempts: 0,
          maxEventAge: Duration.minutes(1),
        }),
      ],
    });
  }

  private windows(deployment: Deployment, worker: WorkerFunction): WindowClock {
    const group = new ScheduleGroup(this, "Windows", { scheduleGroupName: nameOf(deployment) });
    const role = this.schedulerRole(group, worker);
    const target = {
      roleArn: role.roleArn,
      deadLetters: worker.deadLetters.queueArn,
      arn: worker.service.fn.functionArn,
    };
    for (const [at, window] of deployment.settings.maintenanceWindows.entries())
      this.declared(`DeclaredWindow${at}`, nameOf(deployment), window, target).node.addDependency(group);
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
  ): CfnSchedule {
    const { expression, timeZone, input } = declaredSchedule(window);
    return new CfnSchedule(this, id, {
      groupName,
      scheduleExpression: expression,
      scheduleExpressionTimezone: timeZone,
      flexibleTimeWindow: { mode: "OFF" },
      target: { arn, roleArn, input, deadLetterConfig: { arn: deadLetters } },
    });
  }
}
