/** The side door for sets of impacted targets that no gateway lets through. */
import { createHash } from "node:crypto";
import type { CommitSha, QueueKey } from "../../kernel/ids.ts";
import { fail, ok } from "../../kernel/result.ts";
import { type EpochMs, later, MINUTE_MS } from "../../kernel/time.ts";
import { noQueue } from "./faults.ts";
import type { QueueApp } from "./ports.ts";

const OPEN_MS = 15 * MINUTE_MS;
const BYTES_MAX = 20 * 1024 * 1024;

export type UploadDoor = {
  readonly grantUpload: (grant: {
    readonly uploadId: string;
    readonly maxBytes: number;
    readonly expiresAt: EpochMs;
  }) => Promise<{ readonly url: string; readonly fields: Readonly<Record<string, string>> }>;
  /** As it was sent (gzip stays gzip); undefined before. */
  readonly readUpload: (uploadId: string) => Promise<Uint8Array | undefined>;
};

type Uploading = { readonly key: QueueKey; readonly prNumber: number; readonly sha: CommitSha };
type App = QueueApp & { readonly uploads: UploadDoor };

export async function grantUpload(app: App, asked: Uploading) {
  if ((await app.queues.find(asked.key)) === undefined) return noQueue(asked.key);
  const uploadId = uploadIdFor(asked, app.newId().replaceAll("-", ""));
  const expiresAt = later(app.clock(), OPEN_MS);
  const form = await app.uploads.grantUpload({ uploadId, maxBytes: BYTES_MAX, expiresAt });
  return ok({ uploadId, url: form.url, fields: { ...form.fields }, expiresAt });
}

/** What was uploaded under this id, if the id was given out for exactly this organization, repository, PR and commit. */
export async function readUpload(app: App, asked: Uploading, uploadId: string) {
  const [random = ""] = uploadId.split("-");
  const isOwn = uploadId === uploadIdFor(asked, random);
  const bytes = isOwn ? await app.uploads.readUpload(uploadId) : undefined;
  if (bytes !== undefined) return ok(bytes);
  return fail("UPLOAD_NOT_FOUND", `Nothing was uploaded under this id for PR #${asked.prNumber} at ${asked.sha}.`);
}

/** A random part and a digest that binds it: under another organization, PR or commit the same id names nothing. */
function uploadIdFor({ key, prNumber, sha }: Uploading, random: string): string {
  const { host, owner, name } = key.repo;
  const bound = [random, key.org, host, owner, name, prNumber, sha].join("\n");
  return `${random}-${createHash("sha256").update(bound).digest("hex").slice(0, 32)}`;
}
