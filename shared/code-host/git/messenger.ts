/** The small shell program that runs a check's command and tells how it ended, and the listener to it. */
import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import type { LogFile } from "./log-file.ts";
import type { Command } from "./sandbox.ts";

export type Outcome =
  | { readonly kind: "ENDED"; readonly state: "SUCCESS" | "FAILURE"; readonly description: string }
  | { readonly kind: "STOPPED" }
  | { readonly kind: "NOT_STARTED"; readonly what: string };

/**
 * Says on descriptor 3 that it began and how it ended, out of the check's reach, so that the end is known although
 * something in the background keeps the output open. `cat` stands between because node's own pipes are sockets, which
 * `> /dev/stderr` cannot open. The traps let a check's `kill 0` reach the check and not its messenger.
 */
const MESSENGER = `
trap : TERM INT HUP
echo started >&3
{ trap : TERM INT HUP; /bin/sh -c "$1" 3>&-; echo "exit $?" >&3; } 2>&1 | { trap '' TERM INT HUP; exec cat 3>&-; }
`;

export const messengerFor = (command: string): Command => ({
  file: "/bin/sh",
  args: ["-c", MESSENGER, "check", command],
});

/** What the messenger said means for the check. */
export function verdict(lines: readonly string[], complaint: string, overdue: boolean): Outcome {
  if (overdue) return { kind: "ENDED", state: "FAILURE", description: "stopped after 24 hours" };
  if (!lines.includes("started")) return { kind: "NOT_STARTED", what: complaint || "it could not be started" };
  const code = lines.find((line) => line.startsWith("exit "))?.slice(5);
  if (code === undefined) return { kind: "ENDED", state: "FAILURE", description: "killed before it ended" };
  return { kind: "ENDED", state: code === "0" ? "SUCCESS" : "FAILURE", description: `exit status ${code}` };
}

export type Said = ReturnType<typeof listen>;

export function listen(child: ChildProcess, log: LogFile) {
  let messages = "";
  let complaint = "";
  const lines = (): readonly string[] => messages.split("\n");
  child.stdout?.on("data", log.write);
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 1_000) complaint += chunk.toString("utf8");
    log.write(chunk);
  });
  const failed = new Promise<string>((resolve) => child.on("error", (error) => resolve(error.message)));
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const messenger = child.stdio[3];
  const ended = new Promise<void>((resolve) => {
    child.on("exit", () => resolve());
    if (!(messenger instanceof Readable)) return;
    messenger.on("data", (chunk: Buffer) => {
      if (messages.length < 1_000) messages += chunk.toString("utf8");
      if (/^exit \d+\n/mu.test(messages)) resolve();
    });
  });
  return { lines, failed, closed, ended, complaint: () => complaint.trim().split("\n")[0] ?? "" };
}
