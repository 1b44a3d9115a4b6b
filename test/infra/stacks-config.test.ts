import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { ConfigError, settingsOf, STAGES } from "../../infra/config.ts";
import { ROOT } from "../architecture/source.ts";

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

describe("npm run synth", () => {
  const cdk = async (...args: readonly string[]) => {
    const output = mkdtempSync(join(tmpdir(), "mainline-cdk-"));
    const bin = join(ROOT, "node_modules/.bin");
    // As npm runs it, and without anybody's account.
    const env = {
      PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: output,
      AWS_EC2_METADATA_DISABLED: "true",
    };
    const run = promisify(execFile)(join(bin, "cdk"), ["synth", "--quiet", "--output", output, ...args], {
      cwd: ROOT,
      env,
    });
    return { output, run };
  };

  test("works offline and without an account, for every stage, with the code that would be deployed", async () => {
    const { output, run } = await cdk();
    await run;
    for (const stage of Object.keys(STAGES))
      for (const part of ["data", "workers", "api", "observability"])
        expect(existsSync(join(output, `mainline-${stage}-${part}.template.json`))).toBe(true);
    const assets = JSON.parse(readFileSync(join(output, "mainline-dev-api.assets.json"), "utf8"));
    const folders = Object.values<{ source: { path: string } }>(assets.files).map(({ source }) => source.path);
    const code = folders.filter((path) => path.startsWith("asset."));
    expect(code.length).toBeGreaterThan(30);
    for (const folder of code) expect(existsSync(join(output, folder, "index.mjs"))).toBe(true);
    rmSync(output, { recursive: true });
  }, 180_000);

  test("says in words that a stage is not there", async () => {
    const { output, run } = await cdk("--context", "stage=prdo");
    await expect(run).rejects.toThrow('infra/config.ts has no stage "prdo"');
    rmSync(output, { recursive: true });
  });
});
