/** Git on a bare repository, for the twin: argument arrays, no configuration but its own. */
import { createLauncher } from "../../../shared/code-host/git/launcher.ts";

export type GitAnswer = { readonly code: number; readonly bytes: Buffer; readonly out: string; readonly err: string };
export type GitOptions = { readonly input?: string | Buffer; readonly env?: Readonly<Record<string, string>> };

export type Git = {
  readonly dir: string;
  readonly run: (args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;
  /** The output, without the end of its last line; throws when git fails. */
  readonly must: (args: readonly string[], options?: GitOptions) => Promise<string>;
};

const ENV = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  // For commits that a test makes by hand; the twin's own name theirs.
  GIT_AUTHOR_NAME: "somebody",
  GIT_AUTHOR_EMAIL: "somebody@example.com",
  GIT_COMMITTER_NAME: "somebody",
  GIT_COMMITTER_EMAIL: "somebody@example.com",
};
const ALWAYS = ["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false"];

export const gitIn = (dir: string): Git => {
  const run: Git["run"] = (args, options = {}) => execute([...ALWAYS, `--git-dir=${dir}`, ...args], options);
  return {
    dir,
    run,
    must: async (args, options) => {
      const answer = await run(args, options);
      if (answer.code !== 0) throw new Error(`git ${args.join(" ")} in ${dir}: ${answer.err}`);
      return answer.out.replace(/\n$/u, "");
    },
  };
};

const launcher = createLauncher();
const CAP_BYTES = 64 * 1024 * 1024;

async function execute(args: readonly string[], options: GitOptions): Promise<GitAnswer> {
  const env = { ...ENV, ...options.env };
  const order = {
    file: "git",
    args,
    cwd: "/",
    env,
    input: options.input ?? "",
    capBytes: CAP_BYTES,
    timeoutMs: 120_000,
  };
  const ending = await launcher.launch(order);
  if (ending.kind === "NOT_STARTED") throw new Error(`git cannot be started: ${ending.why}`);
  const bytes = Buffer.from(ending.out);
  return { code: ending.code ?? 1, bytes, out: bytes.toString(), err: ending.err.trim() };
}
