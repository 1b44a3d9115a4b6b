/** The commands on a deployment, each as a process, without an account. */
import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
/** Without anything of the environment that could lead to an account. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const bare = { PATH: process.env["PATH"], HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`infra/admin/${command}.ts`, ...args],
      { env: { ...bare, ...env } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("before anything is made", () => {
  it.each([
    ["deploy", ["--stage", "nope"], {}, /^infra\/config\.ts has no stage "nope"\. It has: dev, prod/u],
    ["deploy", ["--stage", "dev"], {}, /^No region: set AWS_REGION/u],
    ["backup", ["--stage", "prod"], { AWS_REGION: "eu-central-1" }, /^No AWS credentials/u],
    ["destroy", ["--stage", "prod"], { AWS_REGION: "eu-central-1" }, /^No AWS credentials/u],
    ["restore", ["--stage", "prod", "--latest"], {}, /^No region/u],
    ["token", ["list", "--org", "main", "--stage", "prod"], {}, /^No region/u],
  ])("npm run %s %j says in one line what is missing", async (command, args, env, message) => {
    const { code, stdout, stderr } = await run(command, args, env);
    expect(stderr).toMatch(message);
    expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1]);
  });

  it("an account that cannot be reached is one line too", async () => {
    const env = { DYNAMODB_ENDPOINT: "http://127.0.0.1:9" };
    const { code, stderr } = await run("backup", ["--stage", "dev"], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^AWS cannot be reached in local: .+\n$/u)]);
  });
});
