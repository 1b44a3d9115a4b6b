import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type * as z from "zod";

/** Readable by its owner alone: these files hold secrets, or open a way to them. */
export const PRIVATE_FILE = 0o600;

/** All or nothing, also across a crash: written beside the place, flushed, then moved there. */
export function writeFileAtomically(path: string, content: string | Uint8Array): void {
  const beside = `${path}.${randomUUID()}.tmp`;
  try {
    const file = openSync(beside, "wx", PRIVATE_FILE);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

const UNFINISHED = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/u;

/** Files that a killed server was about to move to their place. Only for whoever alone writes to the folder. */
export function removeUnfinished(folder: string, recursive = false): void {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder, { encoding: "utf8", recursive }))
    if (UNFINISHED.test(path)) rmSync(join(folder, path), { force: true });
}

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What the file says, or undefined when it is missing or says nothing that we wrote. */
export function readJsonFile<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(parsedJson(readFileSync(path, "utf8"))).data;
  } catch {
    return undefined;
  }
}

/** For `catch`: whether it is a system error of that code, as `ENOENT`. */
export const isSystemError = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
