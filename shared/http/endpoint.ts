/**
 * Authenticate → decode → parse → use case → reply, once for every route. The order matters: nobody without a token
 * makes us inflate or parse more than a fork's workflow may send.
 */
import middyfy from "@middy/core";
import jsonBodyParser from "@middy/http-json-body-parser";
import type { Context } from "aws-lambda";
import * as z from "zod";
import type { Route } from "../api/route.ts";
import type { Log } from "../kernel/log.ts";
import { type Fault, fail, ok } from "../kernel/result.ts";
import { Unavailable } from "../kernel/unavailable.ts";
import { faultAnswer } from "./answer.ts";
import { authorise, NO_TOKEN } from "./authorise.ts";
import type { Principal } from "./authorizer-answer.ts";
import { bodyFile, type BodyLimits, bodyText, signedBytes, WITH_TOKEN, WITHOUT_TOKEN } from "./body.ts";
import { type Answer, addressOf, type ApiEvent, type ApiHandler, requestIdOf } from "./event.ts";
import { type ForkDoor, isFork, NOT_A_FORK, runOf } from "./fork.ts";
import { type AnyPorts, type AnyRun, performer } from "./perform.ts";
import type { EndpointPorts, OpenPorts, OpenRoute, Run, TokenRoute } from "./use-case.ts";

type Ports = () => EndpointPorts;
/** So long before the function's time ends a request is given up: the answer has yet to be written and logged. */
const GIVEN_UP_EARLY_MS = 500;

/**
 * For routes that need a token, or of a fork's workflow that its door lets it in. Without a principal there is no call of
 * `run`, whatever came before.
 */
export const endpoint = <R extends TokenRoute>(route: R, ports: Ports, run: Run<R>, fork?: ForkDoor): ApiHandler =>
  lambdaOf(
    route,
    ports,
    async ({ principal, ...request }) =>
      principal === undefined ? fail("UNAUTHENTICATED", NO_TOKEN) : run({ ...request, principal }),
    fork,
  );

/** For the few routes that need none. */
export const openEndpoint = <R extends OpenRoute>(
  route: R,
  ports: () => OpenPorts,
  run: Run<R, undefined>,
): ApiHandler => lambdaOf(route, ports, async (request) => run({ ...request, principal: undefined }));

function lambdaOf<R extends Route>(route: R, ports: () => AnyPorts, run: AnyRun<R>, fork?: ForkDoor): ApiHandler {
  // Kept beside the event and not in it: nothing that a request carries can pass for an admission.
  const admitted = new WeakMap<ApiEvent, Principal | undefined>();
  const files = new WeakMap<ApiEvent, Uint8Array>();
  const perform = performer(route, ports, run);
  // Of forks that nobody has let in yet: until then every refusal is the same one.
  const waiting = new WeakSet<ApiEvent>();
  const lambda = middyfy<ApiEvent, Answer>({ timeoutEarlyInMillis: GIVEN_UP_EARLY_MS })
    .before(({ event }) => {
      if (fork !== undefined && isFork(route, event)) {
        if (!fork.isOpen()) return faultAnswer(requestIdOf(event), NOT_A_FORK);
        waiting.add(event);
        return undefined;
      }
      const admission = authorise(route, event, ports().clock());
      if (!admission.ok) return faultAnswer(requestIdOf(event), admission.fault);
      admitted.set(event, admission.value);
      return undefined;
    })
    .before(async ({ event }) => {
      if (route.body === undefined) return decode(route, event, waiting.has(event) ? WITHOUT_TOKEN : WITH_TOKEN);
      const file = route.body === "xml" ? await bodyFile(event) : signedBytes(event);
      if (!file.ok) return faultAnswer(requestIdOf(event), file.fault);
      files.set(event, file.value);
      return decode({ method: "GET" }, event, WITH_TOKEN);
    })
    .use(jsonBodyParser<ApiEvent>({ disableContentTypeCheck: true }))
    .handler(async (event: ApiEvent) => {
      if (fork !== undefined && waiting.has(event)) {
        const principal = await letIn(fork, event);
        if (principal === undefined) return faultAnswer(requestIdOf(event), NOT_A_FORK);
        admitted.set(event, principal);
        waiting.delete(event);
      }
      return perform(event, admitted.get(event), files.get(event) ?? NO_FILE);
    })
    .onError(({ event, error }) => trouble(event, error, ports().log));
  return logged(route, ports, async (event, context) => {
    const given = await lambda(event, context);
    const isTold = given.statusCode >= SERVER_FAULT || given.statusCode === TOO_LARGE;
    return waiting.has(event) && !isTold ? faultAnswer(requestIdOf(event), NOT_A_FORK) : given;
  });
}

const SERVER_FAULT = 500;
/** Whoever sends a body knows its size: that tells nobody anything. */
const TOO_LARGE = 413;

async function letIn(fork: ForkDoor, event: ApiEvent): Promise<Principal | undefined> {
  const run = runOf(event);
  if (run === undefined) return undefined;
  // The parser has put the body's value in the place of its text.
  return fork.admit({ run, body: event.body, requestId: requestIdOf(event), address: addressOf(event) });
}

const NO_FILE = new Uint8Array();

/** Leaves JSON text for the parser. The request of a GET is its query: a body it brings means nothing. */
async function decode(route: Pick<Route, "method">, event: ApiEvent, limits: BodyLimits): Promise<Answer | undefined> {
  const text = route.method === "GET" ? ok("{}") : await bodyText(event, limits);
  if (!text.ok) return faultAnswer(requestIdOf(event), text.fault);
  event.body = text.value;
  event.isBase64Encoded = false;
  return undefined;
}

/** The JSON parser throws for a body it cannot read; everything else that is thrown is ours. */
function trouble(event: ApiEvent, error: Error | null | undefined, log: Log): Answer {
  const requestId = requestIdOf(event);
  if (parserError.safeParse(error).success) return faultAnswer(requestId, NOT_JSON);
  if (error instanceof Unavailable) {
    log.warn("a request met an outage", { requestId, error: String(error.cause) });
    return faultAnswer(requestId, OUTAGE);
  }
  if (ranOutOfTime.safeParse(error).success) {
    log.error("a request ran out of its function's time", { requestId });
    return faultAnswer(requestId, OUTAGE);
  }
  log.error("a request failed", { requestId, error: error?.stack ?? String(error) });
  return faultAnswer(requestId, INTERNAL);
}

const parserError = z.looseObject({
  statusCode: z.literal(422),
  cause: z.object({ package: z.literal("@middy/http-json-body-parser") }),
});

/** What the middleware throws a moment before the platform would end the function. */
const ranOutOfTime = z.looseObject({
  name: z.literal("TimeoutError"),
  cause: z.object({ package: z.literal("@middy/core") }),
});

const OUTAGE: Fault<"UNAVAILABLE"> = {
  code: "UNAVAILABLE",
  message: "The service is overloaded or out of reach for a moment. Send the request again.",
  retryAfterSeconds: 2,
};

const NOT_JSON: Fault<"INVALID_REQUEST"> = {
  code: "INVALID_REQUEST",
  message: 'The body is not valid JSON, or it has a field named "__proto__".',
};
const INTERNAL: Fault<"INTERNAL"> = {
  code: "INTERNAL",
  message: "Something went wrong on our side. Try again; if it stays, report the request id.",
};

/** One line per request. The copy keeps the caller's event as it was. */
function logged(route: Route, ports: () => OpenPorts, lambda: ApiHandler): ApiHandler {
  return async (event: ApiEvent, context: Context) => {
    const { log, clock } = ports();
    const begun = clock();
    const given = await lambda({ ...event }, context);
    const ms = clock() - begun;
    log.info("request", { requestId: requestIdOf(event), route: route.id, status: given.statusCode, ms });
    return given;
  };
}
