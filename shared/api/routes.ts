/**
 * The route table. From it come the gateway's routes, each function's rights, the local server's routing, the
 * OpenAPI document, and the types that handlers are held to.
 */
import { maintenanceRoutes } from "./maintenance-routes.ts";
import { otherRoutes } from "./other-routes.ts";
import { pullRequestRoutes } from "./pull-request-routes.ts";
import { queueRoutes } from "./queue-routes.ts";
import type { BodyOf, CodeOf, InputOf, Route } from "./route.ts";
import { testHealthRoutes } from "./test-health-routes.ts";

export const routes = {
  ...pullRequestRoutes,
  ...queueRoutes,
  ...maintenanceRoutes,
  ...testHealthRoutes,
  ...otherRoutes,
} as const;

export type Routes = typeof routes;
export type RouteId = keyof Routes;

/** What a handler gets: the request after its schema has read it. */
export type RequestOf<Id extends RouteId> = InputOf<Routes[Id]>;
/** The only body it may answer, before the token's enum case. */
export type ReplyOf<Id extends RouteId> = BodyOf<Routes[Id]>;
/** The only error codes it may answer. */
export type ErrorsOf<Id extends RouteId> = CodeOf<Routes[Id]>;

export const allRoutes: readonly Route[] = Object.values(routes);
