/**
 * Impacted targets of a PR's commit: where its set is found, who said so, and of its strings the first thousand, for
 * showing. The set itself is kept apart, and written before what names it.
 */
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { CommitSha, OrgSlug, RepoKey } from "../kernel/ids.ts";
import { type BlobStore, TARGETS_SOURCES, type TargetsRecord, type TargetsStore } from "../queue/app/ports.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { getItem } from "./read.ts";
import * as shapes from "./shapes.ts";
import { countOf, digestOf, hashesOf, targetHashes } from "./target-hashes.ts";
import { versioned } from "./versions.ts";

const SHOWN_MAX = 1000;
/** Shown strings are also cut by weight: an item holds 400 KB, and targets may be long. */
const SHOWN_BYTES_MAX = 64 * 1024;

const stored = versioned(
  z.object({
    entity: z.literal("TARGETS"),
    schema: z.literal(2),
    targets: shapes.targets,
    source: z.enum(TARGETS_SOURCES).default("UPLOAD"),
    shown: z.array(z.string()),
  }),
);

function shownOf(targets: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const target of targets) {
    bytes += Buffer.byteLength(target);
    if (shown.length === SHOWN_MAX || bytes > SHOWN_BYTES_MAX) break;
    shown.push(target);
  }
  return shown;
}

export function targetsStore(table: Table, blobs: BlobStore): TargetsStore {
  const sets = targetHashes(table, blobs);

  const find = async (org: OrgSlug, repo: RepoKey, prNumber: number, sha: CommitSha) => {
    const item = await getItem(table, keys.targets(org, repo, prNumber, sha));
    if (item === undefined) return undefined;
    const { targets, source, shown } = stored.parse(item);
    return { targets, source, shown };
  };

  const keepSet = async (org: OrgSlug, targets: readonly string[]): Promise<TargetsRecord["targets"]> => {
    const hashes = hashesOf(targets);
    const digest = digestOf(hashes);
    await sets.keep(org, digest, hashes);
    return { kind: "SET", digest, count: countOf(hashes) };
  };

  return {
    find,
    put: async (org, repo, prNumber, sha, targets, source) => {
      const record: TargetsRecord =
        targets === "ALL"
          ? { targets: { kind: "ALL" }, source, shown: [] }
          : { targets: await keepSet(org, targets), source, shown: shownOf(targets) };
      const Item = { ...keys.targets(org, repo, prNumber, sha), entity: "TARGETS", schema: 2, ...record };
      const before = TARGETS_SOURCES.slice(0, TARGETS_SOURCES.indexOf(source));
      const isPut = await putUnless(table, Item, before);
      // What was refused is refused because of what is there.
      return isPut ? record : ((await find(org, repo, prNumber, sha)) ?? record);
    },
    hashes: sets.load,
  };
}

/** False where something of those sources is there already. */
async function putUnless(table: Table, Item: Record<string, unknown>, of: readonly string[]): Promise<boolean> {
  const names = of.map((source, at) => [`:s${at}`, source] as const);
  const condition =
    of.length === 0
      ? {}
      : {
          ConditionExpression: `attribute_not_exists(pk) OR NOT #source IN (${names.map(([name]) => name).join(", ")})`,
          ExpressionAttributeNames: { "#source": "source" },
          ExpressionAttributeValues: Object.fromEntries(names),
        };
  return unlessRefused(() => table.client.send(new PutCommand({ TableName: table.name, Item, ...condition })));
}
