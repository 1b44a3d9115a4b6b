/** A queue, and bodies that are sent to it whatever they hold. Holds no assertions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { blobFolder } from "../../infra/local/blob-folder.ts";
import { commitSha, orgSlug } from "../../shared/kernel/ids.ts";
import { impactedTargetsUpload } from "../../shared/schemas/pull-request.ts";
import { openTable } from "../../shared/table/client.ts";
import { hashesOf } from "../../shared/table/target-hashes.ts";
import { targetsStore } from "../../shared/table/targets-store.ts";
import type { Called } from "../support/server.ts";
import { type Fields, type Service, shown } from "../support/service.ts";

export const MIB = 1024 * 1024;
export const LIMIT = 20 * MIB;
export const SHA = "a".repeat(40);

export const hexOf = (targets: readonly string[]): string => Buffer.from(hashesOf(targets)).toString("hex");

export const pr = (number: number, sha = SHA): Fields => ({ pr: { number, sha } });

export type Form = { readonly url: string; readonly fields: Readonly<Record<string, string>> };

export const post = ({ url, fields }: Form, file: string | Uint8Array<ArrayBuffer>): Promise<Response> => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([file]), "targets.json");
  return fetch(url, { method: "POST", body: form });
};

export async function aDoor(service: Service) {
  const { queue, repo } = await service.queue();
  const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<Called> =>
    service.asks("/setImpactedTargets", undefined, {
      body,
      headers: { "content-type": "application/json", "x-api-token": service.server().adminToken, ...headers },
    });
  const text = (impactedTargets: unknown, of: Fields = { number: 1, sha: SHA }): string =>
    JSON.stringify({ ...queue.at, pr: of, impactedTargets });

  /** A body of exactly so many bytes: the queue, one target, and room in a field that nobody reads. */
  const bodyOfBytes = (bytes: number): string => {
    const bare = JSON.stringify({ ...queue.at, pr: { number: 1, sha: SHA }, impactedTargets: ["a"], room: "" });
    return bare.replace(/""\}$/u, `"${"x".repeat(bytes - Buffer.byteLength(bare))}"}`);
  };

  /** What the store holds for a PR's commit: its set as it would be compared. */
  const storedSet = async (prNumber: number, sha: string) => {
    const { endpoint, table: name } = z
      .object({ endpoint: z.string(), table: z.string() })
      .parse(JSON.parse(readFileSync(join(service.server().data, "endpoint"), "utf8")));
    const table = openTable({ name, endpoint });
    const store = targetsStore(table, blobFolder(join(service.server().data, "blobs")));
    const org = orgSlug("local");
    const found = await store.find(org, repo.key, prNumber, commitSha(sha));
    if (found?.targets.kind !== "SET") throw new Error("no set");
    const hashes = (await store.hashes(org, [found.targets])).get(found.targets.digest);
    table.client.destroy();
    return {
      ...found.targets,
      shown: found.shown,
      hashes: Buffer.from(hashes?.buffer ?? new ArrayBuffer()).toString("hex"),
    };
  };

  const granted = async (number: number): Promise<Form & { readonly uploadId: string }> =>
    shown(impactedTargetsUpload, await queue.asks("/setImpactedTargets/upload", pr(number)));
  const use = (uploadId: string, fields: Fields): Promise<Called> =>
    queue.asks("/setImpactedTargets", { uploadId, ...fields });
  const set = (impactedTargets: unknown, of?: Fields): Promise<Called> => send(text(impactedTargets, of));
  return { queue, send, text, set, bodyOfBytes, storedSet, granted, use };
}

export type Door = Awaited<ReturnType<typeof aDoor>>;
