/** The CDK's own command line, of exactly the version that this service is pinned to. */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { delimiter, dirname } from "node:path";
import { CannotStart } from "../local/cannot-start.ts";

const CDK = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");

/** Its output is the terminal's. What it has said of a failure stands there already. */
export function cdk(stage: string, region: string, args: readonly string[]): Promise<void> {
  const [command = ""] = args;
  // It runs infra/app.ts with the first node of the path, which is to be this one.
  const PATH = [dirname(process.execPath), process.env["PATH"]].filter(Boolean).join(delimiter);
  const env = { ...process.env, PATH, AWS_REGION: region, AWS_DEFAULT_REGION: region };
  const child = spawn(process.execPath, [CDK, ...args, "--context", `stage=${stage}`], { stdio: "inherit", env });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new CannotStart(`cdk ${command} did not succeed; what it says stands above.`));
    });
  });
}
