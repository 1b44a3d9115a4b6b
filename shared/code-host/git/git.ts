/**
 * Runs git. Argument arrays, never a shell; an environment of its own; no system or user configuration, hooks,
 * prompts, network protocols, replace refs or file-system monitors, whatever a repository's own configuration says.
 */
import { HostUnavailable } from "../port.ts";
import { type Launch, launchHere } from "./launch.ts";

export type GitAnswer = {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
  /** Output went on beyond the cap: git was stopped there. */
  readonly truncated: boolean;
};
export type GitOptions = {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly capBytes?: number;
  readonly timeoutMs?: number;
};
export type Git = (args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;

const CAP_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 120_000;

const ALWAYS = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.pager", "cat"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["submodule.recurse", "false"],
  ["commit.gpgSign", "false"],
  ["log.showSignature", "false"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

const environment = (home: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  HOME: home,
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
});

/** The code of a git that ended itself over what it read: it would again. */
export const GIT_CRASHED = 134;

/** Rejects with HostUnavailable when git cannot be started, or is stopped by a signal or the time limit. */
export const createGit =
  (home: string, launch: Launch = launchHere): Git =>
  async (args, options = {}) => {
    const ending = await launch({
      file: "git",
      args: [...ALWAYS, ...args],
      cwd: "/",
      env: { ...environment(home), ...options.env },
      input: options.input ?? "",
      capBytes: options.capBytes ?? CAP_BYTES,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    });
    if (ending.kind === "NOT_STARTED") throw new HostUnavailable(`git cannot be started: ${ending.why}`);
    const { code, signal, err, truncated } = ending;
    const out = Buffer.from(ending.out.buffer, ending.out.byteOffset, ending.out.byteLength);
    if (signal === "SIGABRT" || signal === "SIGSEGV")
      return { code: GIT_CRASHED, out, err: `git crashed: ${signal}`, truncated };
    if (code === null && !truncated) throw new HostUnavailable(`git was stopped by ${signal ?? "something"}`);
    return { code: code ?? 0, out, err: err.trim().slice(0, 2_000), truncated };
  };

/** The output of a git that has to succeed. */
export async function mustGit(git: Git, args: readonly string[], options?: GitOptions): Promise<string> {
  const answer = await git(args, options);
  if (answer.code !== 0 || answer.truncated) throw new HostUnavailable(gitTrouble(args, answer));
  return answer.out.toString("utf8");
}

export const gitTrouble = (args: readonly string[], answer: GitAnswer): string =>
  `git ${args.find((arg) => /^[a-z]/u.test(arg)) ?? ""} failed (${answer.truncated ? "too much output" : answer.code}): ${answer.err.split("\n")[0] ?? ""}`;

/** `merge-tree --write-tree` came with 2.38. Throws, in words for whoever starts the service. */
export async function requireGit(git: Git): Promise<void> {
  const version = await mustGit(git, ["version"]);
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/u.exec(version) ?? [];
  if (Number(major) * 1_000 + Number(minor) < 2_038)
    throw new Error(`git 2.38 or newer is needed; this machine has ${version.trim()}`);
}
