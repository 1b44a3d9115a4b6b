/** One worker's Lambda: `export const handler = work((app, event) => …)`. */
import type { Context } from "aws-lambda";
import { nameInvocation } from "./log.ts";
import { type PartsOf, tableOnly } from "./parts.ts";
import { type Wiring, wiring } from "./wiring.ts";

/** Schedules send events, but all that they say is that it is time: such a worker takes none. */
export const work =
  <Event = void, Given = void>(run: (app: Wiring, event: Event) => Promise<Given>, parts: PartsOf = tableOnly) =>
  async (event: Event, context?: Context): Promise<Given> => {
    nameInvocation(context);
    return run(wiring(parts), event);
  };
