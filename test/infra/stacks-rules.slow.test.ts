/** The rules of cdk-nag, for every stage; and that every exception is one resource's, with its reason. */
import { type CfnResource, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import type { IConstruct } from "constructs";
import { describe, expect, test } from "vitest";
import { appOf } from "./app.ts";
import { stageNames } from "./stages.ts";

/** Of the resource itself, or of the construct that is nothing but it: an exception for many would hide the next one. */
function exceptionsOf(resource: IConstruct): ReadonlyMap<string, string> {
  const own = [resource, resource.node.scope].flatMap((one) => one?.node.metadata ?? []);
  const data = own.filter((one) => one.type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY).map((one) => one.data);
  return new Map(
    data.flatMap((rules: object) => Object.entries(rules)).map(([rule, why]) => [rule.replace(/^.*::/u, ""), `${why}`]),
  );
}

const isResource = (one: IConstruct): one is CfnResource => "cfnResourceType" in one;

describe.each(stageNames)("stage %s", (stage) => {
  const { app } = appOf(stage);
  const resources = new Map(
    app.node
      .findAll()
      .filter(isResource)
      .map((one) => [one.node.path, one]),
  );

  test.each([
    ["AWS Solutions", new AwsSolutionsChecks(app)],
    ["Serverless", new ServerlessChecks(app)],
  ])("breaks no rule of %s but with a reason of its own", (_, pack) => {
    const { violations } = pack.validateScope(app);
    const broken = violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.flatMap(({ constructPath }) => {
        const resource = resources.get(constructPath ?? "");
        // A rule about statements names each that it found: the exception is of the role that holds them.
        const rule = ruleName.replace(/\[.*$/su, "");
        return resource !== undefined && exceptionsOf(resource).has(rule) ? [] : [`${ruleName} at ${constructPath}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("every exception says why", () => {
    const reasons = [...resources.values()].flatMap((one) => [...exceptionsOf(one).values()]);
    expect(reasons.length).toBeGreaterThan(50);
    expect(reasons.filter((reason) => !/^\P{Ll}.{20,}\.$/su.test(reason))).toEqual([]);
  });

  test("its table, bucket and roles were looked at", () => {
    const types = [...resources.values()].map((one) => one.cfnResourceType);
    for (const type of ["AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::IAM::Role", "AWS::SQS::Queue"])
      expect(types).toContain(type);
  });
});
