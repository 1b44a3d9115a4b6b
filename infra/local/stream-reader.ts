/** One reader of the table's stream: shard after shard, from a position on. */
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
} from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord } from "aws-lambda";
import type { Table } from "../../shared/table/client.ts";
import type { Position } from "./stream-checkpoint.ts";
import { toLambdaRecord } from "./stream-record.ts";

/** A record may hold two images of 400 KB, and dynoxide, unlike AWS, puts no limit on an answer's size. */
const RECORDS_AT_ONCE = 100;

export async function streamOf({ client, name }: Table): Promise<string> {
  const { Table: described } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (described?.LatestStreamArn === undefined) throw new Error(`the table ${name} has no stream`);
  return described.LatestStreamArn;
}

async function shardsOf(client: DynamoDBStreamsClient, StreamArn: string): Promise<readonly Shard[]> {
  const shards: Shard[] = [];
  let after: string | undefined;
  do {
    const { StreamDescription: page } = await client.send(
      new DescribeStreamCommand({ StreamArn, ...(after === undefined ? {} : { ExclusiveStartShardId: after }) }),
    );
    shards.push(...(page?.Shards ?? []));
    after = page?.LastEvaluatedShardId;
  } while (after !== undefined);
  return shards;
}

export type StreamReader = {
  /** The next records, in order; empty when there are none now. Throws when the table does not answer. */
  readonly next: () => Promise<readonly DynamoDBRecord[]>;
  /** Everything up to and including this record is settled. */
  readonly settle: (sequence: string) => void;
  readonly position: () => Position;
  /** Reads again from what is settled. */
  readonly rewind: () => void;
};

export function streamReader(client: DynamoDBStreamsClient, start: Position): StreamReader {
  let position = start;
  let iterator: string | undefined;

  /** Oldest first. A shard's end is told by its iterator alone: dynoxide names an end for a shard that goes on. */
  const currentShard = async (): Promise<string | undefined> => {
    if (position.shard !== null) return position.shard;
    const shards = await shardsOf(client, position.stream);
    const open = shards.map((shard) => shard.ShardId ?? "").find((id) => !position.finished.includes(id));
    if (open !== undefined) position = { ...position, shard: open, sequence: null };
    return open;
  };

  const iteratorOf = async (ShardId: string): Promise<string | undefined> => {
    const from =
      position.sequence === null
        ? ({ ShardIteratorType: "TRIM_HORIZON" } as const)
        : ({ ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: position.sequence } as const);
    const ask = new GetShardIteratorCommand({ StreamArn: position.stream, ShardId, ...from });
    return (await client.send(ask)).ShardIterator;
  };

  const finish = (shard: string): void => {
    position = { ...position, finished: [...position.finished, shard].slice(-100), shard: null, sequence: null };
  };

  const next = async (): Promise<readonly DynamoDBRecord[]> => {
    const shard = await currentShard();
    if (shard === undefined) return [];
    iterator ??= await iteratorOf(shard);
    const { Records = [], NextShardIterator } = await client.send(
      new GetRecordsCommand({ ShardIterator: iterator, Limit: RECORDS_AT_ONCE }),
    );
    iterator = NextShardIterator;
    if (Records.length === 0 && NextShardIterator === undefined) finish(shard);
    return Records.map((record) => toLambdaRecord(record, position.stream));
  };

  return {
    next,
    settle: (sequence) => {
      position = { ...position, sequence };
    },
    position: () => position,
    rewind: () => {
      iterator = undefined;
    },
  };
}
