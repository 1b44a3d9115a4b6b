/**
 * Which of GitHub's repositories a queue's `owner/name` is. Stored twice, by that name and by GitHub's number, in one
 * transaction; kept for as long as the organization is: a name that is looked up anew could be a stranger's by then.
 */
import * as z from "zod";
import type { GitHubMemory } from "../code-host/github/port.ts";
import { type OrgSlug, type RepoKey, repoKey } from "../kernel/ids.ts";
import type { Table } from "./client.ts";
import { keys } from "./keys.ts";
import { getItem, query } from "./read.ts";
import { put, remove, transact } from "./transaction.ts";
import { versioned } from "./versions.ts";

const repository = versioned(
  z.object({
    entity: z.literal("GITHUB_REPOSITORY"),
    schema: z.literal(1),
    repo: z.object({ host: z.string(), owner: z.string(), name: z.string() }).transform(repoKey),
    known: z.object({ id: z.int(), owner: z.string(), name: z.string(), account: z.string() }),
  }),
);

export type GitHubRepositories = Pick<GitHubMemory, "repository" | "putRepository" | "repositoriesOfId"> & {
  /** The next repository that is asked for by this name is the one that has it then. False: none was known. */
  readonly forget: (repo: RepoKey) => Promise<boolean>;
};

export function githubRepositories(table: Table, org: OrgSlug): GitHubRepositories {
  return {
    repository: async (repo) => {
      const found = await getItem(table, keys.githubRepository(org, repo));
      return found === undefined ? undefined : repository.parse(found).known;
    },
    putRepository: async (repo: RepoKey, known) => {
      const item = { entity: "GITHUB_REPOSITORY", schema: 1, repo, known };
      const isIt = { expression: "attribute_not_exists(pk) OR known.id = :id", values: { ":id": known.id } };
      const places = [keys.githubRepository(org, repo), keys.githubName(org, repo, known.id)];
      const done = await transact(
        table,
        places.map((key) => put(table, { ...key, ...item }, isIt)),
      );
      return done === "COMMITTED";
    },
    forget: async (repo) => {
      const found = await getItem(table, keys.githubRepository(org, repo));
      if (found === undefined) return false;
      const places = [keys.githubRepository(org, repo), keys.githubName(org, repo, repository.parse(found).known.id)];
      await transact(
        table,
        places.map((key) => remove(table, key)),
      );
      return true;
    },
    repositoriesOfId: async (host, id) => {
      const found = await query(table, { pk: keys.githubNamesOf(org, host, id) });
      return found.map((item) => repository.parse(item).repo);
    },
  };
}
