import { Alarm, type AlarmProps, ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { type Deployment, nameOf } from "./deployment.ts";

/** What an alarm is about. There is none without somebody whom it hurts and something to do first. */
export type AlarmSpec = Pick<AlarmProps, "metric" | "threshold" | "evaluationPeriods"> & {
  /** In kebab-case; the runbook has a section of this name. */
  readonly name: string;
  /** One sentence: who notices, and what. */
  readonly hurts: string;
  /** One sentence: where to look, or what to do, before anything else. */
  readonly first: string;
  readonly below?: true;
  /** So many of the periods; all of them where it is not said. */
  readonly datapointsToAlarm?: number;
  /** Silence is what is wrong. */
  readonly missingIsBad?: true;
};

const SENTENCE = /^\P{Ll}.{15,}\.$/u;
const KEBAB = /^[a-z]+(?:-[a-z]+)+$/u;
export const RUNBOOK = "infra/README.md";

export function alarm(scope: Construct, deployment: Deployment, tell: readonly ITopic[], spec: AlarmSpec): Alarm {
  const { name, hurts, first, below, missingIsBad, datapointsToAlarm, ...rest } = spec;
  if (!KEBAB.test(name)) throw new Error(`an alarm's name is written so-and-so, not "${name}"`);
  if (!SENTENCE.test(hurts)) throw new Error(`the alarm ${name} must say in a sentence who is hurt`);
  if (!SENTENCE.test(first)) throw new Error(`the alarm ${name} must say in a sentence what to do first`);
  const made = new Alarm(scope, `Alarm-${name}`, {
    ...rest,
    ...(datapointsToAlarm === undefined ? {} : { datapointsToAlarm }),
    alarmName: nameOf(deployment, name),
    alarmDescription: `${hurts} First: ${first} More: ${RUNBOOK}#alarm-${name}`,
    comparisonOperator:
      below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: missingIsBad === true ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  });
  for (const topic of tell) {
    made.addAlarmAction(new SnsAction(topic));
    made.addOkAction(new SnsAction(topic));
  }
  return made;
}
