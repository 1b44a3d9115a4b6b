/** A node:http request as API Gateway's HTTP API hands it to a function: payload format 2.0. */
import type { IncomingMessage } from "node:http";
import type { Context } from "aws-lambda";
import type { ApiEvent } from "../../shared/http/event.ts";
import { eventBody } from "./request-body.ts";

export type Target = { readonly path: string; readonly query: string };

/** Leaves what cannot be decoded as it came: it matches no route. */
const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/** Proxies send `http://host/path` in place of `/path`. No URL parser: it would tidy up what has to be judged. */
export function targetOf(url: string): Target {
  const local = url.replace(/^https?:\/\/[^/?]*/iu, "");
  const mark = local.indexOf("?");
  const path = mark === -1 ? local : local.slice(0, mark);
  return { path: decoded(path === "" ? "/" : path), query: mark === -1 ? "" : local.slice(mark + 1) };
}

const headersOf = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headersDistinct).flatMap(([name, values]) =>
      values === undefined || name === "cookie" ? [] : [[name, values.join(",")]],
    ),
  );

const cookiesOf = (request: IncomingMessage): string[] =>
  (request.headers.cookie ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== "");

/** Values of a name that comes twice are joined with a comma, as the gateway does. */
function parametersOf(query: string): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(joined);
}

export type EventParts = {
  readonly request: IncomingMessage;
  readonly target: Target;
  readonly requestId: string;
  readonly routeKey: string;
  readonly body: Buffer;
  /** What the authorizer answered; absent where none was asked. */
  readonly principal?: unknown;
};

export function toEvent({ request, target, requestId, routeKey, body, principal }: EventParts): ApiEvent {
  const headers = headersOf(request);
  const cookies = cookiesOf(request);
  const now = new Date();
  return {
    version: "2.0",
    routeKey,
    rawPath: target.path,
    rawQueryString: target.query,
    headers,
    ...(cookies.length === 0 ? {} : { cookies }),
    ...(target.query === "" ? {} : { queryStringParameters: parametersOf(target.query) }),
    ...eventBody(body),
    requestContext: {
      accountId: "local",
      apiId: "local",
      domainName: headers["host"] ?? "localhost",
      domainPrefix: "local",
      http: {
        method: request.method ?? "GET",
        path: target.path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? "",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId,
      routeKey,
      stage: "$default",
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
      ...(principal === undefined ? {} : { authorizer: { lambda: principal } }),
    },
  };
}

/** What a Lambda function is told about its own invocation. */
export function lambdaContext(functionName: string, awsRequestId: string, msMax: number): Context {
  const until = performance.now() + msMax;
  return {
    functionName,
    awsRequestId,
    functionVersion: "local",
    invokedFunctionArn: `local:${functionName}`,
    memoryLimitInMB: "0",
    logGroupName: "local",
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, Math.round(until - performance.now())),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
