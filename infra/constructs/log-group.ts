import { RemovalPolicy } from "aws-cdk-lib";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { Deployment } from "./deployment.ts";

const RETENTIONS = Object.values(RetentionDays).filter((one) => typeof one === "number");

/** Logs are no data: they go with what wrote them. */
export function logGroup(scope: Construct, id: string, { settings }: Deployment, logGroupName: string): LogGroup {
  const retention = RETENTIONS.find((days) => `${days}` === `${settings.logRetentionDays}`);
  if (retention === undefined) throw new Error(`CloudWatch keeps no log for ${settings.logRetentionDays} days`);
  return new LogGroup(scope, id, { logGroupName, retention, removalPolicy: RemovalPolicy.DESTROY });
}
