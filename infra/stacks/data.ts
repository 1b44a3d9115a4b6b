/** What must not be lost, apart from everything that is replaced with each version. */
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import { CfnSecret } from "aws-cdk-lib/aws-secretsmanager";
import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import type { Settings } from "../config.ts";
import { tableDefinition, TTL_ATTRIBUTE } from "../../shared/table/table-definition.ts";
import { type Data, type Deployment, nameOf } from "../constructs/deployment.ts";
import { exception } from "../constructs/exception.ts";

/** A set that is gone overlaps everything, which costs time and is never wrong; no pull request waits for so long. */
const TARGETS_DAYS = 400;
/** Read within minutes of their coming, or never. */
const UPLOADS_DAYS = 1;

export class DataStack extends Stack implements Data {
  readonly table: Data["table"];
  readonly bucket: Data["bucket"];
  readonly gitHubApp: Data["gitHubApp"];

  constructor(scope: Construct, id: string, deployment: Deployment, props: StackProps) {
    super(scope, id, props);
    const { keepsData } = deployment.settings;
    // What a first deployment that fails has made is empty, and would be in the way of the next one.
    const removalPolicy = keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    const own = this.makeTable(nameOf(deployment), keepsData, removalPolicy);
    this.table = restored(deployment.settings.table) ?? tableOf(own);
    const bucket = this.makeBucket(removalPolicy);
    this.bucket = { name: bucket.bucketName, arn: bucket.bucketArn };
    this.gitHubApp = { arn: this.makeSecret(nameOf(deployment, "github-app"), removalPolicy).ref };
    new CfnOutput(this, "TableName", { value: this.table.name });
    new CfnOutput(this, "BucketName", { value: this.bucket.name });
  }

  private makeTable(tableName: string, deletionProtection: boolean, removalPolicy: RemovalPolicy): TableV2 {
    const [partitionKey, sortKey] = keyAttributes(tableName);
    return new TableV2(this, "Table", {
      tableName,
      partitionKey,
      sortKey,
      billing: Billing.onDemand(),
      encryption: TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      deletionProtection,
      removalPolicy,
    });
  }

  private makeBucket(removalPolicy: RemovalPolicy): Bucket {
    const bucket = new Bucket(this, "Bucket", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy,
      lifecycleRules: [
        { id: "uploads", prefix: "uploads/", expiration: Duration.days(UPLOADS_DAYS) },
        { id: "bundles", prefix: "bundles/", expiration: Duration.days(UPLOADS_DAYS) },
        { id: "targets", prefix: "targets/", expiration: Duration.days(TARGETS_DAYS) },
        { id: "unfinished", abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    exception(
      bucket,
      "AwsSolutions-S1",
      "Nobody reaches it but our own functions, and whoever holds an address that one of them signed for one object and minutes: their logs say who.",
    );
    return bucket;
  }

  /** Without a value: `npm run github-app -- setup` puts the App in it, and no deployment touches what is there. */
  private makeSecret(name: string, removalPolicy: RemovalPolicy): CfnSecret {
    const description = "The GitHub App of this stage: its key, and the secret of its webhooks";
    const secret = new CfnSecret(this, "GitHubApp", { name, description });
    secret.applyRemovalPolicy(removalPolicy);
    exception(
      secret,
      "AwsSolutions-SMG4",
      "GitHub makes the App's keys, in a browser: nothing that AWS could call makes another.",
    );
    return secret;
  }
}

function tableOf({ tableName, tableArn, tableStreamArn }: TableV2): Data["table"] {
  if (tableStreamArn === undefined) throw new Error("the table has no stream");
  return { name: tableName, arn: tableArn, streamArn: tableStreamArn };
}

/** The one that was deployed stays where it is, and nobody reads it. */
function restored(given: Settings["table"]): Data["table"] | undefined {
  if (given === undefined) return undefined;
  const [arn = ""] = given.streamArn.split("/stream/");
  return { ...given, arn };
}

/** Of the one definition of the table, which the local one is made from too. */
function keyAttributes(tableName: string) {
  const { AttributeDefinitions = [], KeySchema = [] } = tableDefinition(tableName);
  const attribute = (keyType: "HASH" | "RANGE") => {
    const name = KeySchema.find((key) => key.KeyType === keyType)?.AttributeName;
    const type = AttributeDefinitions.find((one) => one.AttributeName === name)?.AttributeType;
    if (name === undefined || type !== "S") throw new Error(`the table's ${keyType} key is no text`);
    return { name, type: AttributeType.STRING };
  };
  return [attribute("HASH"), attribute("RANGE")] as const;
}
