import * as z from "zod";
import { conclusion, PULL_REQUEST_STATES } from "./pull-request.ts";
import { statusCheck } from "./test-run.ts";
import { timeOut, wireEnum, wireWord } from "./wire.ts";

const blocker = z.object({
  kind: wireWord(),
  message: z.string(),
  prNumber: z.int().optional().meta({ description: "The pull request that stands in the way, where it is one." }),
});

/** Why a pull request is where it is, in words for its author; for one that ended, why it ended. */
export const explanation = z
  .object({
    prNumber: z.int(),
    state: wireEnum(PULL_REQUEST_STATES),
    position: z.int().nullable().meta({ description: "1 is the head of the queue; null while it has no place." }),
    summary: z.string().meta({ description: "One sentence." }),
    blockers: z.array(blocker),
    waitsFor: z.array(z.string()),
    whatWouldMoveIt: z.array(z.string()),
    failedRun: z.object({ testRunId: z.string(), statuses: z.array(statusCheck) }).optional(),
    conclusion: conclusion.nullable(),
    notes: z
      .array(z.object({ at: timeOut, message: z.string() }))
      .meta({ description: "What the queue decided about it, newest first." }),
  })
  .meta({ id: "Explanation" });
