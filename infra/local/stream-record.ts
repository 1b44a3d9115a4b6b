/** A record of the stream as Lambda hands it to a function: dates as seconds, bytes in base64. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { _Record as StreamRecord } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord, AttributeValue as LambdaValue } from "aws-lambda";

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function toLambdaValue(value: AttributeValue): LambdaValue {
  if (value.S !== undefined) return { S: value.S };
  if (value.N !== undefined) return { N: value.N };
  if (value.BOOL !== undefined) return { BOOL: value.BOOL };
  if (value.NULL !== undefined) return { NULL: value.NULL };
  if (value.M !== undefined) return { M: toLambdaItem(value.M) };
  if (value.L !== undefined) return { L: value.L.map(toLambdaValue) };
  if (value.SS !== undefined) return { SS: value.SS };
  if (value.NS !== undefined) return { NS: value.NS };
  if (value.B !== undefined) return { B: base64(value.B) };
  return { BS: (value.BS ?? []).map(base64) };
}

const toLambdaItem = (item: Record<string, AttributeValue>): Record<string, LambdaValue> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toLambdaValue(value)]));

const image = (name: "Keys" | "NewImage" | "OldImage", item: Record<string, AttributeValue> | undefined) =>
  item === undefined ? {} : { [name]: toLambdaItem(item) };

export const toLambdaRecord = (record: StreamRecord, eventSourceARN: string): DynamoDBRecord => ({
  eventID: record.eventID,
  eventName: record.eventName,
  eventVersion: record.eventVersion,
  eventSource: "aws:dynamodb",
  awsRegion: record.awsRegion,
  eventSourceARN,
  dynamodb: {
    ApproximateCreationDateTime: (record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0) / 1_000,
    ...image("Keys", record.dynamodb?.Keys),
    ...image("NewImage", record.dynamodb?.NewImage),
    ...image("OldImage", record.dynamodb?.OldImage),
    SequenceNumber: record.dynamodb?.SequenceNumber,
    SizeBytes: record.dynamodb?.SizeBytes,
    StreamViewType: record.dynamodb?.StreamViewType,
  },
});

export const sequenceOf = (record: DynamoDBRecord): string => record.dynamodb?.SequenceNumber ?? "";

/** The filter of an event source mapping: new items whose sort key begins so. */
export const insertsOf =
  (skPrefix: string) =>
  (record: DynamoDBRecord): boolean =>
    record.eventName === "INSERT" && (record.dynamodb?.Keys?.["sk"]?.S?.startsWith(skPrefix) ?? false);
