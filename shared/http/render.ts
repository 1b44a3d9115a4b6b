import type { BodyOf, Route } from "../api/route.ts";
import type { Principal } from "./authorizer-answer.ts";
import { recaseOf } from "./casing.ts";

/** From a use case's answer to the bytes of 200, in the enum case of whoever asked. */
export function renderer<R extends Route>(route: R): (body: BodyOf<R>, principal: Principal | undefined) => string {
  if (route.media !== "application/json") return (body) => String(body);
  const recase = recaseOf(route.reply);
  return (body, principal) =>
    JSON.stringify(recase !== undefined && principal?.enumCase === "lower" ? recase(body) : body);
}
