/** Large values beside the table, in a folder as S3 holds them on AWS. A value is written whole or not at all. */
import { randomUUID } from "node:crypto";
import { access, link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSystemError, PRIVATE_FILE } from "./files.ts";

/** Keys are made by us: `targets/<digest>`, `uploads/<id>`. */
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/u;

export type BlobStore = {
  /** Replaces what is there. On the disk when it returns. */
  readonly put: (key: string, bytes: Uint8Array) => Promise<void>;
  /** Writes only where nothing is; says whether it did. */
  readonly putNew: (key: string, bytes: Uint8Array) => Promise<boolean>;
  readonly get: (key: string) => Promise<Buffer | undefined>;
  readonly exists: (key: string) => Promise<boolean>;
  readonly remove: (key: string) => Promise<void>;
};

async function flushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", PRIVATE_FILE);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename is durable when its folder is. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export function blobFolder(folder: string): BlobStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`no key of the blob store: ${key}`);
    return join(folder, key);
  };

  const write = async (key: string, bytes: Uint8Array, place: (from: string, to: string) => Promise<void>) => {
    const path = pathOf(key);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const beside = `${path}.${randomUUID()}.tmp`;
    try {
      await flushed(beside, bytes);
      await place(beside, path);
      await flushFolder(dirname(path));
    } finally {
      await rm(beside, { force: true });
    }
  };

  return {
    put: (key, bytes) => write(key, bytes, rename),
    putNew: async (key, bytes) => {
      try {
        await write(key, bytes, link);
        return true;
      } catch (error) {
        if (isSystemError(error, "EEXIST")) return false;
        throw error;
      }
    },
    get: async (key) => {
      try {
        return await readFile(pathOf(key));
      } catch (error) {
        if (isSystemError(error, "ENOENT")) return undefined;
        throw error;
      }
    },
    exists: async (key) => {
      try {
        await access(pathOf(key));
        return true;
      } catch {
        return false;
      }
    },
    remove: (key) => rm(pathOf(key), { force: true }),
  };
}
