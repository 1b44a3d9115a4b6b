import type { DynamoDBRecord } from "aws-lambda";
import { expect, test } from "vitest";
import { eachOf } from "../../../functions/stream-batch.ts";
import { silentLog } from "../../../shared/kernel/log.ts";

const recordOf = (SequenceNumber: string): DynamoDBRecord => ({ dynamodb: { SequenceNumber } });
const batch = ["1", "2", "3"].map(recordOf);
const numberOf = (record: DynamoDBRecord): string => record.dynamodb?.SequenceNumber ?? "";

test("a record that fails is named, and those before and after it are worked on all the same", async () => {
  const done: string[] = [];
  const answer = await eachOf(batch, silentLog, async (record) => {
    if (numberOf(record) === "2") throw new Error("poison");
    done.push(numberOf(record));
  });
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "2" }] });
  expect(done).toEqual(["1", "3"]);
});

test("a record that throws at once fails alone, too", async () => {
  const work = (record: DynamoDBRecord): Promise<void> => {
    if (numberOf(record) === "1") throw new Error("poison");
    return Promise.resolve();
  };
  expect(await eachOf(batch, silentLog, work)).toEqual({ batchItemFailures: [{ itemIdentifier: "1" }] });
});

test("failures are named in the stream's order, whichever ended first", async () => {
  const answer = await eachOf(batch, silentLog, async (record) => {
    for (let turns = 4 - Number(numberOf(record)); turns > 0; turns -= 1) await Promise.resolve();
    throw new Error("all");
  });
  expect(answer.batchItemFailures.map((one) => one.itemIdentifier)).toEqual(["1", "2", "3"]);
});

test("a record without a number fails the batch as a whole, as Lambda reads an empty name", async () => {
  const answer = await eachOf([{}], silentLog, () => Promise.reject(new Error("poison")));
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: "" }] });
});
