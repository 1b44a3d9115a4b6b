import { describe, expect, test } from "vitest";
import { ConfigError, settingsOf, STAGES } from "../../infra/config.ts";

const problemsOf = (settings: unknown, stage = "dev"): string => {
  try {
    settingsOf(stage, { [stage]: settings });
    return "";
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe("a deployment's settings", () => {
  test("what is not said has a default that is safe", () => {
    expect(settingsOf("new", { new: {} })).toEqual({
      stage: "new",
      keepsData: true,
      reservesConcurrency: true,
      logRetentionDays: 30,
      logLevel: "INFO",
      throttling: { requestsPerSecond: 100, burst: 200 },
      alarms: {},
      maintenanceWindows: [],
      functions: {},
    });
  });

  test("every problem is named at once, each with its place", () => {
    const message = problemsOf({
      account: "12",
      region: "europe",
      logRetentionDays: 31,
      throttling: { requestsPerSecond: 0, burst: 5 },
      alarms: { email: "nobody", topicArn: "arn:aws:sqs:eu-central-1:123456789012:queue" },
      domain: { name: "MQ.example.org", certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/1" },
      table: { name: "restored", streamArn: "arn:aws:dynamodb:eu-central-1:123456789012:table/other/stream/1" },
      maintenanceWindows: [
        {
          org: "acme",
          repo: { host: "h", owner: "o", name: "n" },
          targetBranch: "main",
          schedule: "daily",
          timeZone: "Mars/Base",
          durationMinutes: 0,
        },
      ],
      functions: { "get-que": {}, sweep: { memoryMb: 64 } },
      colour: "red",
    });
    for (const place of [
      "dev.account:",
      "dev.region:",
      "dev.logRetentionDays:",
      "dev.throttling.requestsPerSecond:",
      "dev.alarms.email:",
      "dev.alarms.topicArn:",
      "dev.domain.name:",
      "dev.table:",
      "dev.maintenanceWindows.0.schedule:",
      "dev.maintenanceWindows.0.timeZone:",
      "dev.maintenanceWindows.0.durationMinutes:",
      "dev.functions.get-que: there is no such function",
      "dev.functions.sweep.memoryMb:",
      'dev: Unrecognized key: "colour"',
    ])
      expect(message).toContain(`  ${place}`);
  });

  test("a stage that is not there is told with those that are", () => {
    expect(() => settingsOf("prdo")).toThrow(
      'infra/config.ts has no stage "prdo". It has: dev, prod. Add it to STAGES.',
    );
    expect(() => settingsOf("constructor")).toThrow(ConfigError);
    expect(problemsOf({}, "Prod")).toContain('"Prod" is no stage');
    expect(problemsOf({}, "a-stage-of-many-words")).toContain("is no stage");
  });

  test("every stage of the file can be used", () => {
    expect(Object.keys(STAGES).length).toBeGreaterThan(1);
    for (const stage of Object.keys(STAGES)) expect(settingsOf(stage).stage).toBe(stage);
  });
});

describe("an endpoint's time", () => {
  test("ends before the gateway's", () => {
    expect(problemsOf({ functions: { "get-queue": { timeoutSeconds: 29 }, sweep: { timeoutSeconds: 600 } } })).toBe(
      "infra/config.ts cannot be used:\n  dev.functions.get-queue.timeoutSeconds: must be at most 28: the gateway gives up after 30 seconds",
    );
  });
});
