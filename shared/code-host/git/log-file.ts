/**
 * A check's log: its beginning as it comes, its end when it is over, and a line between them that says how much was
 * left out. Bounded in the file and in memory, however much a check writes.
 */
import { closeSync, openSync, writeSync } from "node:fs";

export const LOG_BYTES_MAX = 1024 * 1024;
const HALF = LOG_BYTES_MAX / 2 - 100;

export type LogFile = { readonly write: (chunk: Buffer) => void; readonly close: () => void };

/** Throws what opening a file throws. Later trouble with the disk costs log lines, never a verdict. */
export function openLog(path: string): LogFile {
  const fd = openSync(path, "w", 0o600);
  let headRoom = HALF;
  let tail: Buffer[] = [];
  let tailSize = 0;
  let omitted = 0;
  const put = (bytes: Buffer): void => {
    try {
      writeSync(fd, bytes);
    } catch {
      // A full disk.
    }
  };
  return {
    write: (chunk) => {
      const head = chunk.subarray(0, headRoom);
      if (head.length > 0) put(head);
      headRoom -= head.length;
      if (head.length === chunk.length) return;
      tail.push(chunk.subarray(head.length));
      tailSize += chunk.length - head.length;
      while (tail[0] !== undefined && tailSize - tail[0].length >= HALF) {
        tailSize -= tail[0].length;
        omitted += tail[0].length;
        tail.shift();
      }
    },
    close: () => {
      const rest = Buffer.concat(tail);
      const kept = rest.subarray(Math.max(0, rest.length - HALF));
      omitted += rest.length - kept.length;
      if (omitted > 0) put(Buffer.from(`\n… ${omitted} bytes left out …\n`));
      if (kept.length > 0) put(kept);
      tail = [];
      closeSync(fd);
    },
  };
}
