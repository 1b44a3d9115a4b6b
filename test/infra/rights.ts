/** What the policies of a deployed function allow, in the recorder's words. */
import { isPartition, PARTITIONS } from "../../shared/table/partitions.ts";
import type { DeployedFunction, Statement } from "./template.ts";

export const keysOf = ({ Condition }: Statement): readonly string[] =>
  [Condition?.["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"]].flat().map(String);

/** The function's rights to the table's items. */
export const table = ({ statements }: DeployedFunction): readonly Statement[] =>
  statements.filter(({ Action }) =>
    Action.some((action) => action.startsWith("dynamodb:") && !/Stream|Record|Shard/u.test(action)),
  );

export const nameOfPattern = new Map<string, string>(
  Object.entries(PARTITIONS).map(([name, pattern]) => [pattern, name]),
);
const folderOf = (resource: unknown): string =>
  /\/(?<folder>[a-z]+)\/\*/u.exec(JSON.stringify(resource))?.groups?.["folder"] ?? "?";

export function allowed(one: DeployedFunction): readonly string[] {
  const fromTable = table(one).flatMap((statement) =>
    statement.Action.flatMap((action) =>
      keysOf(statement).map(
        (pattern) => `${action.slice("dynamodb:".length)} ${nameOfPattern.get(pattern) ?? pattern}`,
      ),
    ),
  );
  const beside = one.statements.flatMap(({ Action, Resource }) =>
    Action.flatMap((action) => {
      const [service, call = ""] = action.split(":");
      if (service === "secretsmanager") return [`${call} secret`];
      if (service === "s3" && call !== "ListBucket") return Resource.map((at) => `${call} ${folderOf(at)}/`);
      return service === "scheduler" ? [`${call} schedules`] : [];
    }),
  );
  return [...fromTable, ...beside];
}

/** As IAM matches; patterns hold nothing else that a regular expression would read. */
const isLike = (pattern: string, key: string): boolean =>
  new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "su").test(key);

export function mayDo(one: DeployedFunction, what: string, pk: string): boolean {
  const [call = "", where = ""] = what.split(" ");
  if (!isPartition(where)) return allowed(one).includes(what);
  return table(one).some(
    (statement) =>
      statement.Action.includes(`dynamodb:${call}`) && keysOf(statement).some((pattern) => isLike(pattern, pk)),
  );
}
