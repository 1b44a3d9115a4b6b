/**
 * Confines a check with bubblewrap: a read-only machine, its own folder writable, private /tmp and processes, and the
 * service's data, all repositories and this user's credentials out of sight. The network stays: checks install things.
 */
import { spawn } from "node:child_process";
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../kernel/log.ts";

export type Confinement = {
  /** The check's own folder, the only one it may write to beside /tmp. */
  readonly own: string;
  /** Hidden, beside what is hidden from every check. */
  readonly hidden: readonly string[];
  /** Folders it may read although they lie in hidden ones. */
  readonly readable: readonly string[];
  readonly cwd: string;
};
export type Command = { readonly file: string; readonly args: readonly string[] };
export type Sandbox = {
  readonly confined: boolean;
  /** The command that runs `command` inside; the same command where there is no sandbox. */
  readonly wrap: (command: Command, confinement: Confinement) => Command;
};

export const NO_SANDBOX: Sandbox = { confined: false, wrap: (command) => command };

/** Where people keep what opens other doors. */
const CREDENTIALS = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".docker",
  ".kube",
  ".azure",
  ".config/gh",
  ".config/gcloud",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
].map((name) => join(homedir(), name));

/** Through these sockets a check could have others run things for it. */
const DOORS = ["/run/user", "/run/docker.sock", "/run/dbus", "/run/podman"];

/** Probes for a sandbox that works here. `hide`: folders that no check may see, such as the service's data. */
export async function findSandbox(options: { readonly hide: readonly string[]; readonly log: Log }): Promise<Sandbox> {
  const sandbox = bubblewrap(options.hide);
  const probe = sandbox.wrap(
    { file: "/bin/sh", args: ["-c", "exit 7"] },
    { own: "/tmp", hidden: [], readable: [], cwd: "/" },
  );
  if ((await exitOf(probe)) === 7) return sandbox;
  options.log.warn("Checks run unconfined: bwrap does not work here. Whoever may push a PR runs code as this user.");
  return NO_SANDBOX;
}

const exitOf = (command: Command): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn(command.file, command.args, { stdio: "ignore", timeout: 10_000, killSignal: "SIGKILL" });
    child.on("error", () => resolve(null));
    child.on("exit", resolve);
  });

const bubblewrap = (hide: readonly string[]): Sandbox => ({
  confined: true,
  wrap: (command, { own, hidden, readable, cwd }) => ({
    file: "bwrap",
    args: [
      // A session of its own: a check's `kill 0` would reach bwrap itself, process groups cross namespaces.
      ["--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"],
      ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
      // The order counts: what is hidden first, then the exceptions inside it.
      ...[...hide, ...hidden, ...CREDENTIALS, ...DOORS].flatMap(covered),
      ...readable.map((path) => ["--ro-bind", path, path]),
      ["--bind", own, own, "--chdir", cwd, "--", command.file],
      command.args,
    ].flat(),
  }),
});

/** Empty in its place; what does not exist needs no hiding, and could not be mounted over. */
function covered(path: string): readonly (readonly string[])[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  return [statSync(real).isDirectory() ? ["--tmpfs", real] : ["--ro-bind", "/dev/null", real]];
}
