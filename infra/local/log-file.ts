import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../shared/kernel/log.ts";
import { PRIVATE_FILE } from "./files.ts";

const ROTATE_AT_BYTES = 64 * 1024 * 1024;

type Level = "info" | "warn" | "error";
type Fields = Readonly<Record<string, unknown>>;

/** One old file is kept. */
function rotated(path: string): string {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > ROTATE_AT_BYTES) renameSync(path, `${path}.1`);
  return path;
}

const words = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("")
    .replaceAll(/\s+/gu, " ");

/** JSON lines in `<data>/server.log`; what somebody should look at, in one line on stderr as well. */
export function logFile(data: string, say: (line: string) => void): { readonly log: Log; readonly close: () => void } {
  const file = openSync(rotated(join(data, "server.log")), "a", PRIVATE_FILE);
  let open = true;
  const line =
    (level: Level) =>
    (message: string, fields: Fields = {}): void => {
      // Written at once: what a crash was about is in the last lines.
      if (open) writeSync(file, `${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
      if (level !== "info") say(`${level}: ${message}${words(fields)}`);
    };
  const close = (): void => {
    if (open) closeSync(file);
    open = false;
  };
  return { log: { info: line("info"), warn: line("warn"), error: line("error") }, close };
}
