import { join } from "node:path";
import * as z from "zod";
import { readJsonFile, writeFileAtomically } from "./files.ts";

const position = z.object({
  stream: z.string(),
  /** Shards read to their end. */
  finished: z.array(z.string()),
  shard: z.string().nullable(),
  /** Of the last record that is settled; null before the first of its shard. */
  sequence: z.string().nullable(),
});
export type Position = z.infer<typeof position>;

/** How far a mapping has come. Losing the newest state costs a repetition, nothing else. */
export type Checkpoint = { readonly load: () => Position | undefined; readonly save: (position: Position) => void };

export function fileCheckpoint(data: string, mapping: string): Checkpoint {
  const path = join(data, `stream-${mapping}.json`);
  return { load: () => readJsonFile(path, position), save: (at) => writeFileAtomically(path, JSON.stringify(at)) };
}

export function memoryCheckpoint(): Checkpoint {
  let kept: Position | undefined;
  return {
    load: () => kept,
    save: (at) => {
      kept = at;
    },
  };
}
