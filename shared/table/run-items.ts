import * as z from "zod";
import type { QueueKey } from "../kernel/ids.ts";
import type { EndedRun, Move, Run } from "../queue/engine/types.ts";
import { keys } from "./keys.ts";
import * as shapes from "./shapes.ts";
import { versioned } from "./versions.ts";

const stored = versioned(z.object({ entity: z.literal("RUN"), schema: z.literal(1), run: shapes.run }));
const ended = versioned(z.object({ entity: z.literal("ENDED_RUN"), schema: z.literal(1), ended: shapes.endedRun }));
const moved = versioned(z.object({ entity: z.literal("MOVE"), schema: z.literal(1), move: shapes.move }));

export const fromRunItem = (item: unknown): Run => stored.parse(item).run;
export const toRunItem = (key: QueueKey, run: Run) => ({ ...keys.run(key, run.id), entity: "RUN", schema: 1, run });

export const fromEndedRunItem = (item: unknown): EndedRun => ended.parse(item).ended;
export const toEndedRunItem = (key: QueueKey, one: EndedRun) => ({
  ...keys.endedRun(key, one.run.id),
  entity: "ENDED_RUN",
  schema: 1,
  ended: one,
});

export const fromMoveItem = (item: unknown): Move => moved.parse(item).move;
export const toMoveItem = (key: QueueKey, move: Move) => ({
  ...keys.move(key, move.prNumber, move.at, move.entry, move.number),
  entity: "MOVE",
  schema: 1,
  move,
});
