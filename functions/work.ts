/** One worker's Lambda: `export const handler = work(queueSide, (app, event) => …)`. */
import type { Context } from "aws-lambda";
import { lent } from "./lent.ts";
import { nameInvocation } from "./log.ts";
import type { PartsOf } from "./parts.ts";
import type { Side, Wiring } from "./wiring.ts";

/** Schedules send events, but all that they say is that it is time: such a worker takes none. */
export function work<Names extends keyof Wiring, Event = void, Given = void>(
  side: Side<Names>,
  run: (app: Pick<Wiring, Names>, event: Event) => Promise<Given>,
  parts?: PartsOf,
) {
  const app = lent(side, parts);
  return async (event: Event, context?: Context): Promise<Given> => {
    nameInvocation(context);
    await app.ready();
    return run(app(), event);
  };
}
