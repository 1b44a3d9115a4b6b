/** Who is told when something goes wrong, and what there is to see. */
import { Duration, Stack, type StackProps } from "aws-cdk-lib";
import { type Alarm, AlarmStatusWidget, Dashboard, GraphWidget, type IMetric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, MetricFilter } from "aws-cdk-lib/aws-logs";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";
import { alarm } from "../constructs/alarm.ts";
import { apiAlarms, gatewayMetric, gitHubAlarm, tableAlarms, tableMetric } from "../constructs/alarms.ts";
import { type Deployment, nameOf } from "../constructs/deployment.ts";
import { exception } from "../constructs/exception.ts";
import type { ApiStack } from "./api.ts";
import type { DataStack } from "./data.ts";
import type { WorkersStack } from "./workers.ts";

export type Watched = { readonly data: DataStack; readonly workers: WorkersStack; readonly api: ApiStack };

export class ObservabilityStack extends Stack {
  constructor(scope: Construct, id: string, deployment: Deployment, watched: Watched, props: StackProps) {
    super(scope, id, props);
    const tell = this.topics(deployment);
    const workers = [...watched.workers.workers.values()];
    const specs = [
      ...apiAlarms(watched.api, this.throttled(deployment, watched.api)),
      ...tableAlarms(watched.data.table.name),
      gitHubAlarm(this.refused(deployment, watched.workers)),
      ...workers.flatMap((worker) => worker.alarms),
    ];
    const alarms = specs.map((spec) => alarm(this, deployment, tell, spec));
    this.dashboard(deployment, watched, alarms);
  }

  private topics(deployment: Deployment): readonly ITopic[] {
    const { email, topicArn } = deployment.settings.alarms;
    if (topicArn !== undefined) return [Topic.fromTopicArn(this, "GivenTopic", topicArn)];
    if (email === undefined) return [];
    const topic = new Topic(this, "Alarms", { topicName: nameOf(deployment, "alarms"), enforceSSL: true });
    topic.addSubscription(new EmailSubscription(email));
    exception(
      topic,
      "AwsSolutions-SNS2",
      "CloudWatch cannot publish to a topic under AWS's own key; alarms hold no data.",
    );
    exception(topic, "Serverless-SNSRedrivePolicy", "A mail that cannot be delivered has nobody else to go to.");
    return [topic];
  }

  /** The gateway counts its 429 among all others of 400 and above; the log tells them apart. */
  private throttled(deployment: Deployment, { accessLog }: ApiStack): IMetric {
    const filter = new MetricFilter(this, "Throttled", {
      logGroup: accessLog,
      filterPattern: FilterPattern.stringValue("$.status", "=", "429"),
      metricNamespace: nameOf(deployment),
      metricName: "Throttled",
      metricValue: "1",
    });
    return filter.metric({ statistic: "Sum", period: Duration.minutes(5) });
  }

  /** The sweep asks GitHub every minute about all that is live, and says so when the App is not taken there. */
  private refused(deployment: Deployment, { workers }: WorkersStack): IMetric {
    const sweep = workers.get("sweep");
    if (sweep === undefined) throw new Error("there is no sweep among the workers");
    const filter = new MetricFilter(this, "AppRefused", {
      logGroup: sweep.service.log,
      filterPattern: FilterPattern.stringValue("$.message", "=", "*of the GitHub App*"),
      metricNamespace: nameOf(deployment),
      metricName: "AppRefused",
      metricValue: "1",
    });
    return filter.metric({ statistic: "Sum", period: Duration.minutes(5) });
  }

  private dashboard(deployment: Deployment, { data, workers, api }: Watched, alarms: readonly Alarm[]): void {
    const { apiId } = api.api;
    const functions = [...workers.workers.values()].map(({ service }) => service.fn);
    const dashboard = new Dashboard(this, "Dashboard", {
      dashboardName: nameOf(deployment),
      defaultInterval: Duration.hours(3),
    });
    const graph = (title: string, left: readonly IMetric[]): GraphWidget =>
      new GraphWidget({ title, left: [...left], width: 8 });
    dashboard.addWidgets(new AlarmStatusWidget({ title: "Alarms", alarms: [...alarms], width: 24 }));
    dashboard.addWidgets(
      graph(
        "Requests",
        ["Count", "4xx", "5xx"].map((name) => gatewayMetric(apiId, name, "Sum")),
      ),
      graph(
        "Answered within, ms",
        ["p50", "p90", "p99"].map((of) => gatewayMetric(apiId, "Latency", of)),
      ),
      graph("Table: capacity units", [
        tableMetric(data.table.name, "ConsumedReadCapacityUnits"),
        tableMetric(data.table.name, "ConsumedWriteCapacityUnits"),
      ]),
      graph(
        "Workers: calls",
        functions.map((fn) => fn.metricInvocations()),
      ),
      graph(
        "Workers: failures",
        functions.map((fn) => fn.metricErrors()),
      ),
      graph(
        "Workers: duration, ms",
        functions.map((fn) => fn.metricDuration({ statistic: "p90" })),
      ),
      graph(
        "Stream: behind, ms",
        functions.map((fn) => fn.metric("IteratorAge", { statistic: "Maximum" })),
      ),
      graph(
        "Given up",
        [...workers.workers.values()].map(({ deadLetters }) => deadLetters.metricApproximateNumberOfMessagesVisible()),
      ),
      graph(
        "Functions: refused for concurrency",
        functions.map((fn) => fn.metricThrottles()),
      ),
    );
  }
}
