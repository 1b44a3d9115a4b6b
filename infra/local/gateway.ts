/** API Gateway's part on one machine: the route table over node:http, in front of the same handlers. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Route } from "../../shared/api/route.ts";
import { WITH_TOKEN, WITHOUT_TOKEN } from "../../shared/http/body.ts";
import type { Answer, ApiHandler } from "../../shared/http/event.ts";
import { RUN_HEADER } from "../../shared/http/fork.ts";
import type { Log } from "../../shared/kernel/log.ts";
import { type Authorize, cachedAuthorizer } from "./authorizer-cache.ts";
import { oneLine } from "./cannot-start.ts";
import { lambdaContext, type Target, targetOf, toEvent } from "./gateway-event.ts";
import { ClientGone, readBody } from "./request-body.ts";

export type GatewayParts = {
  readonly routes: readonly Route[];
  /** Gives the handler of a route by its id, or of `unknown-path`. */
  readonly handler: (id: string) => Promise<ApiHandler>;
  readonly authorize: Authorize;
  readonly log: Log;
  /** Takes requests that are none of the API's, as uploads; undefined leaves them to the routes. */
  readonly sideDoor?: (target: Target, exchange: Exchange) => Promise<Answer> | undefined;
  readonly limits?: Partial<Limits>;
  /** False: no code host is connected whose forks could come in. */
  readonly takesForks?: boolean;
};

export type Limits = { readonly requestMs: number; readonly headersMs: number; readonly handlerMs: number };

/** One request and its answer. The body is read once, at most `bytesMax` + 1 bytes of it. */
export type Exchange = { readonly request: IncomingMessage; readonly body: (bytesMax: number) => Promise<Buffer> };

const BASE = "/v1";
const UNKNOWN_PATH = "unknown-path";
const HEADER_BYTES_MAX = 16 * 1024;
const LIMITS: Limits = { requestMs: 120_000, headersMs: 10_000, handlerMs: 30_000 };

/** In the gateway's own shape, since on AWS none of our code has run yet. */
const ownAnswer = (statusCode: number, message: string): Answer => ({
  statusCode,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message }),
});
const UNAUTHORIZED = ownAnswer(401, "Unauthorized");
const INTERNAL = ownAnswer(500, "Internal Server Error");
const TIMED_OUT = ownAnswer(503, "Service Unavailable");

const within = async <T>(ms: number, work: Promise<T>, late: T): Promise<T> => {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

export function createGateway(parts: GatewayParts): Server {
  const limits = { ...LIMITS, ...parts.limits };
  const authorize = cachedAuthorizer(parts.authorize);
  const byKey = new Map(parts.routes.map((route) => [`${route.method} ${BASE}${route.path}`, route]));

  const invoke = async (id: string, exchange: Exchange, more: Invocation): Promise<Answer> => {
    const handler = await parts.handler(id);
    const event = toEvent({ ...more, request: exchange.request, routeKey: id === UNKNOWN_PATH ? "$default" : id });
    return within(limits.handlerMs, handler(event, lambdaContext(id, more.requestId, limits.handlerMs)), TIMED_OUT);
  };

  const ofRoute = async (route: Route, exchange: Exchange, target: Target, requestId: string): Promise<Answer> => {
    const token = exchange.request.headersDistinct["x-api-token"]?.join(",") ?? "";
    if (route.auth === "token" && token === "") return UNAUTHORIZED;
    const principal = route.auth === "none" || token === "" ? undefined : (await authorize(token)).context;
    const isKnown = Object.keys(principal ?? {}).length > 0;
    const bytesMax = bytesTaken(route, exchange, isKnown, parts.takesForks ?? true);
    const body = bytesMax === 0 ? Buffer.alloc(0) : await exchange.body(bytesMax);
    return invoke(route.id, exchange, { target, requestId, body, principal });
  };

  const answerTo = async (exchange: Exchange, requestId: string): Promise<Answer> => {
    const target = targetOf(exchange.request.url ?? "/");
    const aside = parts.sideDoor?.(target, exchange);
    if (aside !== undefined) return aside;
    const route = byKey.get(`${exchange.request.method ?? ""} ${target.path}`);
    if (route !== undefined) return ofRoute(route, exchange, target, requestId);
    return invoke(UNKNOWN_PATH, exchange, { target, requestId, body: Buffer.alloc(0) });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse, continues: boolean): Promise<void> => {
    const requestId = randomUUID();
    // A client that waits to be asked for its body and is not must not send another request on this connection.
    if (continues) response.shouldKeepAlive = false;
    const body = (bytesMax: number): Promise<Buffer> => {
      if (continues) response.writeContinue();
      response.shouldKeepAlive = true;
      return readBody(request, bytesMax);
    };
    try {
      write(response, requestId, await answerTo({ request, body }, requestId));
    } catch (error) {
      if (error instanceof ClientGone) return;
      parts.log.error("the gateway failed", { requestId, error: oneLine(error) });
      write(response, requestId, INTERNAL);
    } finally {
      // What is left of the body is thrown away, so that the client gets to read the answer.
      request.resume();
    }
  };

  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    requestTimeout: limits.requestMs,
    headersTimeout: limits.headersMs,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: Math.min(limits.headersMs, 5_000),
  });
  server.on("request", (request, response) => void serve(request, response, false));
  // The body is asked for only once it is known that it will be read.
  server.on("checkContinue", (request, response) => void serve(request, response, true));
  return server;
}

/** Of a body that is read before its endpoint judges who sends it. */
function bytesTaken({ auth }: Route, { request }: Exchange, isKnown: boolean, takesForks: boolean): number {
  if (isKnown || auth === "none") return WITH_TOKEN.sentBytesMax;
  // Whoever is nobody is refused before the body is looked at.
  const mayBeFork = takesForks && auth === "token-or-fork" && request.headers[RUN_HEADER] !== undefined;
  return mayBeFork ? WITHOUT_TOKEN.sentBytesMax : 0;
}

type Invocation = {
  readonly target: Target;
  readonly requestId: string;
  readonly body: Buffer;
  readonly principal?: unknown;
};

function write(response: ServerResponse, requestId: string, { statusCode, headers, body }: Answer): void {
  // The client may go away at any moment; its socket's errors concern nobody.
  response.on("error", () => {});
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(body, "utf8");
  response.writeHead(statusCode, { "x-request-id": requestId, ...headers, "content-length": bytes.length });
  response.end(bytes);
}

/** Answers what is under way, takes nothing new, and gives up on the slow after `msMax`. */
export function closeGateway(server: Server, msMax: number): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 20);
    const late = setTimeout(() => server.closeAllConnections(), msMax);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(late);
      resolve();
    });
  });
}
