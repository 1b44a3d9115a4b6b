/** One route's Lambda: `export const handler = serve("get-queue", (request, app) => …)`. */
import { type RouteId, type Routes, routes } from "../shared/api/routes.ts";
import { endpoint, openEndpoint } from "../shared/http/endpoint.ts";
import type { Principal } from "../shared/http/authorizer-answer.ts";
import type { ApiHandler } from "../shared/http/event.ts";
import type { EndpointRequest, OpenRoute, Run, TokenRoute } from "../shared/http/use-case.ts";
import { type Wiring, wiring } from "./wiring.ts";

type IdsOf<Kind> = { [Id in RouteId]: Routes[Id] extends Kind ? Id : never }[RouteId];
type TokenId = IdsOf<TokenRoute>;
type OpenId = IdsOf<OpenRoute>;

type RunOf<Id extends RouteId, Who> = (
  request: EndpointRequest<Routes[Id], Who>,
  app: Wiring,
) => ReturnType<Run<Routes[Id], Who>>;

export const serve = <Id extends TokenId>(id: Id, run: RunOf<Id, Principal>): ApiHandler =>
  endpoint<Routes[Id]>(routes[id], wiring, async (request) => run(request, wiring()));

export const serveOpen = <Id extends OpenId>(id: Id, run: RunOf<Id, undefined>): ApiHandler =>
  openEndpoint<Routes[Id]>(routes[id], wiring, async (request) => run(request, wiring()));
