/** What a stream record of the table says, for the functions that the stream wakes. */
import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import { queueKey } from "./queue-items.ts";

const S = z.object({ S: z.string() }).transform((value) => value.S);
const map = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ M: z.object(shape) });

const key = map({
  org: S,
  repo: map({ host: S, owner: S, name: S }).transform((value) => value.M),
  branch: S,
}).transform((value) => queueKey.parse(value.M));

const message = z.object({ dynamodb: z.object({ NewImage: z.object({ key }) }) });
const effect = z.object({
  dynamodb: z.object({ NewImage: z.object({ key, effect: map({ key: S }).transform((value) => value.M.key) }) }),
});

/** The queue that an inserted INBOX item is for. */
export const queueOfRecord = (record: unknown): QueueKey => message.parse(record).dynamodb.NewImage.key;

/** The queue and the effect that an inserted EFFECT item asks for. */
export const effectOfRecord = (record: unknown): { readonly key: QueueKey; readonly effect: string } =>
  effect.parse(record).dynamodb.NewImage;
