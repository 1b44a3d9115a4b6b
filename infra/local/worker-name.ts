import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isSystemError, writeFileAtomically } from "./files.ts";

/**
 * The name under which the server of this data folder claims work, the same at each start. Only the holder of the
 * folder's lock may use it: that no other process works under it is what lets a start take over what the last one left.
 */
export function workerName(data: string): string {
  const path = join(data, "worker");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw error;
    const name = randomUUID();
    writeFileAtomically(path, `${name}\n`);
    return name;
  }
}
