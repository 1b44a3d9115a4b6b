/** One route's Lambda: `export const handler = serve("get-queue", (request, app) => …)`. */
import { type RouteId, type Routes, routes } from "../shared/api/routes.ts";
import { endpoint } from "../shared/http/endpoint.ts";
import type { ApiHandler } from "../shared/http/event.ts";
import type { EndpointRequest, Run, TokenRoute } from "../shared/http/use-case.ts";
import { nameInvocation } from "./log.ts";
import { type PartsOf, tableOnly } from "./parts.ts";
import { type Wiring, wiring } from "./wiring.ts";

type TokenId = { [Id in RouteId]: Routes[Id] extends TokenRoute ? Id : never }[RouteId];

type RunOf<Id extends TokenId> = (
  request: EndpointRequest<Routes[Id]>,
  app: Wiring,
) => ReturnType<Run<Routes[Id]>>;

export function serve<Id extends TokenId>(id: Id, run: RunOf<Id>, parts: PartsOf = tableOnly): ApiHandler {
  const app = (): Wiring => wiring(parts);
  const handler = endpoint<Routes[Id]>(routes[id], app, async (request) => run(request, app()));
  return async (event, context) => {
    nameInvocation(context);
    return handler(event, context);
  };
}
