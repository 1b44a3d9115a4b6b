/** One route's Lambda: `export const handler = serve(queueRoutes["get-queue"], queueSide, (request, app) => …)`. */
import { endpoint } from "../shared/http/endpoint.ts";
import type { ApiHandler } from "../shared/http/event.ts";
import type { ForkDoor } from "../shared/http/fork.ts";
import type { EndpointPorts, EndpointRequest, Run, TokenRoute } from "../shared/http/use-case.ts";
import { lent } from "./lent.ts";
import { nameInvocation } from "./log.ts";
import type { PartsOf } from "./parts.ts";
import type { Side, Wiring } from "./wiring.ts";

export function serve<R extends TokenRoute, Names extends keyof Wiring>(
  route: R,
  side: Side<Names | keyof EndpointPorts>,
  run: (request: EndpointRequest<R>, app: Pick<Wiring, Names | keyof EndpointPorts>) => ReturnType<Run<R>>,
  parts?: PartsOf,
  fork?: (app: () => Pick<Wiring, NoInfer<Names> | keyof EndpointPorts>) => ForkDoor,
): ApiHandler {
  const app = lent(side, parts);
  const handler = endpoint<R>(route, app, async (request) => run(request, app()), fork?.(app));
  return async (event, context) => {
    nameInvocation(context);
    await app.ready();
    return handler(event, context);
  };
}
