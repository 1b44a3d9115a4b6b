import type { Route } from "../api/route.ts";
import { fail, ok, type Result } from "../kernel/result.ts";
import type { EpochMs } from "../kernel/time.ts";
import { fromAuthorizerContext, type Principal } from "./authorizer-answer.ts";
import type { ApiEvent } from "./event.ts";

type Admission = Result<Principal | undefined, "UNAUTHENTICATED" | "FORBIDDEN">;

// One text for a token that is malformed, unknown, revoked or expired: which of them it is helps only a guesser.
export const NO_TOKEN = "The x-api-token is not valid: it is malformed, unknown, expired or revoked. Send a valid one.";

/** Nobody is let through but by a principal of the authorizer's making, in time, with the route's scope. */
export function authorise(route: Route, event: ApiEvent, now: EpochMs): Admission {
  if (route.auth === "none") return ok(undefined);
  const principal = fromAuthorizerContext(event.requestContext.authorizer?.lambda);
  if (principal === undefined || hasExpired(principal, now)) return fail("UNAUTHENTICATED", NO_TOKEN);
  if (route.scope !== null && principal.scopes.includes(route.scope)) return ok(principal);
  return fail("FORBIDDEN", `The token "${principal.tokenName}" lacks the scope "${route.scope ?? "none"}".`);
}

// The authorizer's answer is cached for a minute, in which a token may expire.
const hasExpired = (principal: Principal, now: EpochMs): boolean =>
  principal.expiresAt !== undefined && principal.expiresAt <= now;
