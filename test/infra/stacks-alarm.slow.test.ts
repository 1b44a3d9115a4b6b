import { App, Stack } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Code } from "aws-cdk-lib/aws-lambda";
import { describe, expect, test } from "vitest";
import { settingsOf } from "../../infra/config.ts";
import { alarm, type AlarmSpec } from "../../infra/constructs/alarm.ts";

const good: AlarmSpec = {
  name: "cake-is-gone",
  hurts: "Whoever comes after three finds no cake.",
  first: "Look into the other kitchen.",
  metric: new Metric({ namespace: "kitchen", metricName: "cake" }),
  threshold: 1,
  evaluationPeriods: 1,
};
const deployment = { settings: settingsOf("dev"), codeOf: () => Code.fromAsset(".") };
const made = (change: Partial<AlarmSpec>) =>
  alarm(new Stack(new App({ analyticsReporting: false }), "Kitchen"), deployment, [], { ...good, ...change });

describe("an alarm", () => {
  test("is made with somebody whom it hurts and something to do first", () => {
    expect(made({}).alarmName).toBeDefined();
  });

  test.each([
    ["nobody whom it hurts", { hurts: "" }],
    ["a word in place of a sentence", { hurts: "Errors" }],
    ["nothing to do first", { first: "TBD" }],
    ["a name that is no anchor", { name: "CakeIsGone" }],
  ])("is not made with %s", (_, change) => {
    expect(() => made(change)).toThrow(/sentence|so-and-so/u);
  });
});
