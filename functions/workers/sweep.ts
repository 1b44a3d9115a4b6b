/** Every minute (locally every few seconds): heals what messages lost. */
import { sweep } from "../../shared/queue/app/sweep.ts";
import { withBucket } from "../bucket.ts";
import { wired } from "../wiring.ts";
import { work } from "../work.ts";

export const handler = work(wired, sweep, withBucket);
