/** A route's Lambda that needs no token and nothing of what is stored, and is bundled without the table's client. */
import type { RouteId, Routes } from "../shared/api/routes.ts";
import { openEndpoint } from "../shared/http/endpoint.ts";
import type { ApiHandler } from "../shared/http/event.ts";
import type { OpenPorts, OpenRoute, Run } from "../shared/http/use-case.ts";
import { systemClock } from "../shared/kernel/time.ts";
import { readEnvironment, SERVICE } from "./environment.ts";
import { lambdaLog, nameInvocation } from "./log.ts";
import { thatWasPutIn } from "./put-in.ts";

type OpenId = { [Id in RouteId]: Routes[Id] extends OpenRoute ? Id : never }[RouteId];

let made: OpenPorts | undefined;
const ports = (): OpenPorts =>
  thatWasPutIn() ?? (made ??= { log: lambdaLog(readEnvironment(SERVICE, process.env)), clock: systemClock });

export function serveOpen<Id extends OpenId>(
  route: Routes[Id],
  run: (app: OpenPorts) => ReturnType<Run<Routes[Id], undefined>>,
): ApiHandler {
  const handler = openEndpoint<Routes[Id]>(route, ports, async () => run(ports()));
  return async (event, context) => {
    nameInvocation(context);
    return handler(event, context);
  };
}
