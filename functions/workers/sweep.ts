/** Every minute (locally every few seconds): heals what messages lost. */
import { sweep } from "../../shared/queue/app/sweep.ts";
import { wiring } from "../wiring.ts";

export const handler = (): Promise<void> => sweep(wiring());
