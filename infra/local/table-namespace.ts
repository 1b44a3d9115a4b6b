/**
 * Where the embedded table runs. It checks no signature, so it gets a network of its own, into which nobody on this
 * machine can connect: no check of a pull request, no other user, no page in a browser.
 */
import { spawn } from "node:child_process";

export type Command = { readonly file: string; readonly args: readonly string[] };

/** Wraps a command so that it runs in a network namespace of its own, with a loopback device that is up. */
export type Namespace = (command: Command) => Command;

const PROBE_MS_MAX = 10_000;

/** With a process namespace, too: when its first process ends, all others end, and no table stays behind. */
const UNSHARED = ["--map-root-user", "--net", "--pid", "--fork", "--kill-child"];

/** bubblewrap brings the loopback device up by itself. */
const byBubblewrap: Namespace = ({ file, args }) => ({
  file: "bwrap",
  args: ["--unshare-net", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--", file, ...args],
});

const byUnshare: Namespace = ({ file, args }) => ({
  file: "unshare",
  args: [...UNSHARED, "--", "/bin/sh", "-c", 'ip link set lo up && exec "$0" "$@"', file, ...args],
});

const works = ({ file, args }: Command): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "ignore", timeout: PROBE_MS_MAX, killSignal: "SIGKILL" });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 7));
  });

export type FindNamespace = () => Promise<Namespace | undefined>;

let found: Promise<Namespace | undefined> | undefined;

/** The first that works on this machine; undefined where none does. Probed once in a process. */
export const findNamespace: FindNamespace = () => (found ??= probe());

async function probe(): Promise<Namespace | undefined> {
  for (const one of [byBubblewrap, byUnshare])
    if (await works(one({ file: "/bin/sh", args: ["-c", "exit 7"] }))) return one;
  return undefined;
}
