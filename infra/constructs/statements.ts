/** What rights are in the words of IAM: exactly these actions, on exactly these things. */
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { isPartition, PARTITIONS } from "../../shared/table/partitions.ts";
import type { BucketRights, Needs, Rights, TableCall } from "../rights.ts";
import type { Data } from "./deployment.ts";

/** Partitions in which the same is done share a statement. */
export function tableStatements({ table }: Data, rights: Rights): readonly PolicyStatement[] {
  const partitionsOf = new Map<string, string[]>();
  for (const [partition, calls] of Object.entries<readonly TableCall[]>(rights)) {
    if (!isPartition(partition)) throw new Error(`there is no partition ${partition}`);
    const actions = [...calls].sort().join(",");
    partitionsOf.set(actions, [...(partitionsOf.get(actions) ?? []), PARTITIONS[partition]]);
  }
  return [...partitionsOf].map(
    ([actions, patterns]) =>
      new PolicyStatement({
        actions: actions.split(",").map((action) => `dynamodb:${action}`),
        resources: [table.arn],
        conditions: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns.toSorted() } },
      }),
  );
}

export function bucketStatements({ bucket }: Data, rights: BucketRights): readonly PolicyStatement[] {
  const folders = Object.entries(rights);
  const reads = folders.some(([, calls]) => calls.includes("GetObject"));
  return [
    ...folders.map(
      ([folder, calls]) =>
        new PolicyStatement({
          actions: calls.map((call) => `s3:${call}`),
          resources: [`${bucket.arn}/${folder}/*`],
        }),
    ),
    // Whoever may not list is refused what is not there, and cannot tell that from a refusal.
    ...(reads ? [new PolicyStatement({ actions: ["s3:ListBucket"], resources: [bucket.arn] })] : []),
  ];
}

/** Of this deployment's App, and to read it and nothing else. */
export const secretStatements = ({ gitHubApp }: Data, { gitHub }: Needs): readonly PolicyStatement[] =>
  gitHub === undefined
    ? []
    : [new PolicyStatement({ actions: ["secretsmanager:GetSecretValue"], resources: [gitHubApp.arn] })];
