/**
 * Who holds the token of a request. It always authorises: an HTTP API turns a refusal into a 403 whose body cannot be
 * changed, so `endpoint()` refuses whoever has no principal here, in the API's own words.
 */
import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult as WithContext,
} from "aws-lambda";
import { hashToken, parseToken } from "../../shared/auth/token-format.ts";
import { type Principal, toAuthorizerContext } from "../../shared/http/authorizer-answer.ts";
import { type Clock, systemClock } from "../../shared/kernel/time.ts";
import { isLive, type TokenRecord, type TokenStore, tokenStore } from "../../shared/table/tokens.ts";
import type { Side } from "../wiring.ts";
import { work } from "../work.ts";

type Ports = { readonly tokens: Pick<TokenStore, "findByHash">; readonly clock: Clock };
type Asked = Pick<APIGatewayRequestAuthorizerEventV2, "headers">;
type Context = ReturnType<typeof toAuthorizerContext> | Record<string, never>;
export type AuthorizerAnswer = WithContext<Context>;

const principalOf = ({ org, tokenId, name, scopes, enumCase, expiresAt }: TokenRecord): Principal => ({
  org,
  tokenId,
  tokenName: name,
  scopes,
  enumCase,
  ...(expiresAt === null ? {} : { expiresAt }),
});

async function principal(sent: string, { tokens, clock }: Ports): Promise<Principal | undefined> {
  // A text that was certainly never given out costs no look-up.
  const token = parseToken(sent);
  const found = token === undefined ? undefined : await tokens.findByHash(hashToken(token));
  return found !== undefined && isLive(found, clock()) ? principalOf(found) : undefined;
}

export const authorizer =
  (ports: () => Promise<Ports> | Ports) =>
  async (event: Asked): Promise<AuthorizerAnswer> => {
    const found = await principal(event.headers?.["x-api-token"] ?? "", await ports());
    return { isAuthorized: true, context: found === undefined ? {} : toAuthorizerContext(found) };
  };

const tokenSide: Side<"tokens" | "clock"> = ({ table, clock = systemClock }) => ({
  tokens: tokenStore(table),
  clock,
});

export const handler = work(tokenSide, (app, event: Asked) => authorizer(() => app)(event));
