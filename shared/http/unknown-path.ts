/** What the gateway's `$default` answers: paths and methods that no route has, and repeated slashes. */
import { allRoutes } from "../api/routes.ts";
import { answer, faultAnswer } from "./answer.ts";
import { type Answer, type ApiEvent, requestIdOf } from "./event.ts";

const BASE = "/v1";

export function unknownPath(event: ApiEvent): Answer {
  const requestId = requestIdOf(event);
  const path = event.rawPath;
  const single = path.replaceAll(/\/{2,}/gu, "/");
  // Only below our own base: an address that begins otherwise is not ours to send anybody to.
  if (single !== path && single.startsWith(`${BASE}/`))
    return answer(requestId, 308, "", { location: locationOf(single, event.rawQueryString) });
  const methods = methodsOf(path);
  if (methods.length > 0) return methodNotAllowed(event, methods);
  return faultAnswer(requestId, {
    code: "UNKNOWN_PATH",
    message: "There is no such endpoint. GET /v1/openapi.json lists all of them.",
  });
}

// The path may hold anything that can be typed, a line break or a backslash (a slash to browsers) included.
function locationOf(path: string, query: string): string {
  const safe = path.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%/]/gu, (char) => encodeURIComponent(char.toWellFormed()));
  const kept = query.replaceAll(/[^\x21-\x7e]/gu, (char) => encodeURIComponent(char.toWellFormed()));
  return kept === "" ? safe : `${safe}?${kept}`;
}

const methodsOf = (path: string): readonly string[] =>
  allRoutes.filter((route) => BASE + route.path === path).map((route) => route.method);

function methodNotAllowed(event: ApiEvent, methods: readonly string[]): Answer {
  const allow = methods.join(", ");
  const message = `This endpoint takes ${allow}, not ${event.requestContext.http.method}.`;
  return faultAnswer(requestIdOf(event), { code: "METHOD_NOT_ALLOWED", message }, { allow });
}
