/** What a deployment is made of, counted in its templates. */
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Code } from "aws-cdk-lib/aws-lambda";
import * as z from "zod";
import { settingsOf } from "../../../infra/config.ts";
import { service } from "../../../infra/stacks/service.ts";

export type Deployed = {
  readonly alarms: number;
  readonly dashboards: number;
  readonly metrics: number;
  readonly secrets: number;
  /** In GB, by the function's name without its stage. */
  readonly memoryOf: (name: string) => number;
};

const STAGE = "prod";
const lambda = z.object({ Properties: z.object({ FunctionName: z.string(), MemorySize: z.number() }) });

export function deployed(): Deployed {
  const codeOf = () => Code.fromInline("export const handler = () => {};");
  const stacks = Object.values(service(new App(), { settings: settingsOf(STAGE), codeOf }));
  const templates = stacks.map((stack) => Template.fromStack(stack));
  const found = (type: string): readonly unknown[] =>
    templates.flatMap((template) => Object.values<unknown>(template.findResources(type)));
  const functions = new Map(
    found("AWS::Lambda::Function").map((one) => {
      const { FunctionName, MemorySize } = lambda.parse(one).Properties;
      return [FunctionName.replace(`mainline-${STAGE}-`, ""), MemorySize / 1024];
    }),
  );
  return {
    alarms: found("AWS::CloudWatch::Alarm").length,
    dashboards: found("AWS::CloudWatch::Dashboard").length,
    metrics: found("AWS::Logs::MetricFilter").length,
    secrets: found("AWS::SecretsManager::Secret").length,
    memoryOf: (name) => {
      const memory = functions.get(name);
      if (memory === undefined) throw new Error(`no stack has a function ${name}`);
      return memory;
    },
  };
}
