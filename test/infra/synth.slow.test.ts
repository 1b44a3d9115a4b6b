/** `npm run synth`, as npm runs it. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { STAGES } from "../../infra/config.ts";
import { ROOT } from "../architecture/source.ts";

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
  });

  test("says in words that a stage is not there", async () => {
    const { output, run } = await cdk("--context", "stage=prdo");
    await expect(run).rejects.toThrow('infra/config.ts has no stage "prdo"');
    rmSync(output, { recursive: true });
  });
});
