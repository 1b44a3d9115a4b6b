/** `npm run demo`, as a stranger runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Demo = { readonly child: ChildProcess; readonly said: () => string; readonly gone: Promise<number | null> };

/** Where it makes its folder, and a home without a git identity. */
const place = mkdtempSync(join(tmpdir(), "mainline-demo-test-"));
export const removePlace = (): void => rmSync(place, { recursive: true, force: true });

export function runDemo(...args: readonly string[]): Demo {
  const child = spawn("npm", ["run", "--silent", "demo", "--", ...args], {
    env: { PATH: process.env["PATH"], HOME: place, TMPDIR: place },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  const gone = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return { child, said: () => said, gone };
}

export const foldersLeft = (): readonly string[] =>
  readdirSync(place).filter((name) => name.startsWith("mainline-demo-"));
