/** What the connection to GitHub keeps of runs and of what it merged. All of it ends by itself. */
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { GitHubMemory } from "../code-host/github/port.ts";
import { commitSha, type OrgSlug, runId, treeSha } from "../kernel/ids.ts";
import { type Clock, DAY_MS, later, SECOND_MS } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { githubRepositories } from "./github-repositories.ts";
import { keys } from "./keys.ts";
import { getItem } from "./read.ts";
import { versioned } from "./versions.ts";

const commit = z.string().transform(commitSha);
const tree = z.string().transform(treeSha);

const superseded = z.object({ context: z.string(), id: z.number(), completedAt: z.string().nullable() });

const run = versioned(
  z.object({
    entity: z.literal("GITHUB_RUN"),
    schema: z.literal(1),
    run: z.string().transform(runId),
    repo: z.object({ host: z.string(), owner: z.string(), name: z.string() }),
    branch: z.string(),
    commit,
    tree,
    required: z.array(z.string()),
    sources: z.array(z.object({ context: z.string(), app: z.int() })).default([]),
    pullRequest: z.int().nullable(),
    repeats: z.int(),
    superseded: z.array(superseded),
    repeating: z
      .object({ repeat: z.int(), superseded: z.array(superseded), attempts: z.record(z.string(), z.int()) })
      .optional(),
    closed: z.boolean(),
  }),
);

const step = versioned(z.object({ entity: z.literal("GITHUB_STEP"), schema: z.literal(1), commit, tree }));

const buried = versioned(z.object({ entity: z.literal("GITHUB_BURIED"), schema: z.literal(1) }));

/** No run lives longer: what waits for a person is tested anew when it goes on. */
const KEPT_MS = 60 * DAY_MS;

export function githubMemory(table: Table, org: OrgSlug, clock: Clock): GitHubMemory {
  const write = async (item: Record<string, unknown>): Promise<void> => {
    const expiresAtSeconds = Math.floor(later(clock(), KEPT_MS) / SECOND_MS);
    await table.client.send(new PutCommand({ TableName: table.name, Item: { ...item, schema: 1, expiresAtSeconds } }));
  };
  return {
    ...githubRepositories(table, org),
    run: async (id) => {
      const found = await getItem(table, keys.githubRun(org, id));
      if (found === undefined) return undefined;
      const { entity: _entity, schema: _schema, ...kept } = run.parse(found);
      return kept;
    },
    bury: (id) => write({ ...keys.githubBuried(org, id), entity: "GITHUB_BURIED" }),
    isBuried: async (id) => {
      const found = await getItem(table, keys.githubBuried(org, id));
      return found !== undefined && buried.parse(found).entity === "GITHUB_BURIED";
    },
    putRun: (one) => write({ ...keys.githubRun(org, one.run), entity: "GITHUB_RUN", ...one }),
    step: async (repo, { parent, head }) => {
      const found = await getItem(table, keys.githubStep(org, repo, parent, head));
      if (found === undefined) return undefined;
      const made = step.parse(found);
      return { commit: made.commit, tree: made.tree };
    },
    putStep: (repo, { parent, head }, made) =>
      write({ ...keys.githubStep(org, repo, parent, head), entity: "GITHUB_STEP", ...made }),
  };
}
