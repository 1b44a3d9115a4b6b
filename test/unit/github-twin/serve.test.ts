import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { Body } from "./client.ts";

const SERVE = new URL("../../support/github/serve.ts", import.meta.url).pathname;

test("the twin runs as a process, does what it is told line by line, and ends with its input", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mainline-twin-"));
  const child = spawn(process.execPath, [SERVE, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Body> => JSON.parse((await lines.next()).value ?? "null");
  const ask = (id: number, call: string, ...given: readonly unknown[]): void =>
    void child.stdin.write(`${JSON.stringify({ id, call, with: given })}\n`);

  const { url, app } = await next();
  expect(app.privateKey).toContain("BEGIN RSA PRIVATE KEY");
  expect((await fetch(`${url}/rate_limit`)).status).toBe(200);
  ask(1, "addRepository", "acme/app", {});
  const answers = [await next(), await next()];
  const made = answers.find((one) => one.id === 1);
  expect(answers.find((one) => one.pushed !== undefined)?.pushed).toEqual({
    repository: "acme/app",
    branch: "main",
    sha: made.answer.sha,
  });
  ask(2, "destroy");
  expect(await next()).toEqual({ id: 2, error: "the twin knows no destroy" });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});
