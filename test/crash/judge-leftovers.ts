/** Nothing is left of work that is done: branches, processes, worktrees, messages, claims. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { openTable } from "../../shared/table/client.ts";
import type { Bare } from "./sample.ts";
import { processesOf } from "./processes.ts";

/** What a queue without pull requests has in the table. */
const TRANSIENT = new Set(["ENTRY", "RUN", "INBOX", "EFFECT"]);

const endpointFile = z.object({ endpoint: z.string(), table: z.string() });

/** Items of the live partitions that should be gone, while the server runs. */
export async function leftInTable(data: string): Promise<readonly string[]> {
  const { endpoint, table: name } = endpointFile.parse(JSON.parse(readFileSync(join(data, "endpoint"), "utf8")));
  const table = openTable({ name, endpoint });
  const left: string[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.client.send(
      new ScanCommand({ TableName: name, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    for (const item of page.Items ?? [])
      if (TRANSIENT.has(String(item["entity"]))) left.push(`${String(item["entity"])} ${JSON.stringify(item)}`);
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  table.client.destroy();
  return left.map((one) => `in the table: ${one.slice(0, 600)}`);
}

export const leftBranches = (repo: Bare): readonly string[] =>
  repo
    .git("for-each-ref", "--format=%(refname)", "refs/heads/mainline")
    .split("\n")
    .filter(Boolean)
    .map((ref) => `${repo.key.name} still has the testing branch ${ref}`);

export const leftLocks = (repo: Bare): readonly string[] =>
  readdirSync(repo.dir, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".lock"))
    .map((path) => `${repo.key.name} still has the lock ${path}`);

/** Worktrees and marks of checks, and passing folders of git. */
export function leftFiles(data: string): readonly string[] {
  const hosts = join(data, "hosts");
  const all = existsSync(hosts) ? readdirSync(hosts, { recursive: true, encoding: "utf8" }) : [];
  const left = all.filter((path) => /(?:\.work|\.pid|\.new)$/u.test(path) || /(?:^|\/)aside-[^/]+$/u.test(path));
  const letters = existsSync(join(data, "dead-letters.jsonl")) ? ["dead-letters.jsonl"] : [];
  const beside = readdirSync(data).filter((name) => /\.(?:tmp|stale)$/u.test(name));
  return [...left, ...letters, ...beside].map((path) => `${path} is left in the data folder`);
}

export const leftChecks = (data: string): readonly string[] =>
  processesOf(data)
    .filter((one) => one.isCheck)
    .map((one) => `a check still runs: ${one.pid} ${one.command}`);
