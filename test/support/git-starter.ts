/**
 * Runs git and waits for it. A small shell starts it: starting a program copies the page tables of the process that
 * starts it, which takes a test's process 50 ms and a shell less than one. The shell ends with its owner, since nobody
 * can write to it any more.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ENV = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

const LOOP = "exec <requests >answers; while read -r _; do . ./order; echo $?; done";

type Shell = { readonly folder: string; readonly requests: number; readonly answers: number };

let shell: Shell | undefined;

function startShell(): Shell {
  const folder = mkdtempSync(join(tmpdir(), "mainline-git-"));
  const made = spawnSync("mkfifo", [join(folder, "requests"), join(folder, "answers")], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`mkfifo: ${made.stderr}`);
  spawn("sh", ["-c", LOOP], { cwd: folder, env: ENV, stdio: ["ignore", "ignore", "inherit"], detached: true }).unref();
  // In the shell's order: each of the two opens only when the shell opens its other end.
  const requests = openSync(join(folder, "requests"), "w");
  return { folder, requests, answers: openSync(join(folder, "answers"), "r") };
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** What git printed; throws when it fails. */
export function runGit(args: readonly string[], input = ""): Buffer {
  shell ??= startShell();
  const { folder, requests, answers } = shell;
  writeFileSync(join(folder, "input"), input);
  writeFileSync(join(folder, "order"), `git ${args.map(quoted).join(" ")} <input >output 2>errors\n`);
  writeSync(requests, "\n");
  const answer = Buffer.alloc(16);
  const length = readSync(answers, answer);
  if (answer.toString("utf8", 0, length) === "0\n") return readFileSync(join(folder, "output"));
  if (length === 0) shell = undefined;
  throw new Error(`git ${args.join(" ")}: ${readFileSync(join(folder, "errors"), "utf8")}`);
}
