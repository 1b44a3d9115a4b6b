/** Events as API Gateway's HTTP API really sends them (payload format 2.0), its own header names and all. */
import { type Route, isInQuery } from "../../shared/api/route.ts";

type Sent = {
  readonly route: Pick<Route, "id" | "method" | "path" | "body">;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly file?: string;
  /** What the authorizer answered. */
  readonly context?: unknown;
};

export function gatewayEvent({ route, input = {}, file, context }: Sent) {
  const { method } = route;
  const path = `/v1${route.path}`;
  const query = isInQuery(route)
    ? new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]))
    : null;
  const body = file ?? (query === null ? JSON.stringify(input) : undefined);
  const routeKey = route.id === "unknown-path" ? "$default" : `${method} ${path}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query?.toString() ?? "",
    cookies: ["a=1", "b=2"],
    headers: {
      accept: "*/*",
      "content-length": String(body?.length ?? 0),
      "content-type": file === undefined ? "application/json" : "application/xml",
      host: "r3pmxmplak.execute-api.eu-central-1.amazonaws.com",
      "user-agent": "curl/8.5.0",
      "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
      // Sent twice.
      "x-forwarded-for": "205.255.255.176,10.0.0.1",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
      "x-api-token": "hidden",
    },
    ...(query === null || query.size === 0 ? {} : { queryStringParameters: Object.fromEntries(query) }),
    requestContext: {
      accountId: "123456789012",
      apiId: "r3pmxmplak",
      ...(context === undefined ? {} : { authorizer: { lambda: context } }),
      domainName: "r3pmxmplak.execute-api.eu-central-1.amazonaws.com",
      domainPrefix: "r3pmxmplak",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "205.255.255.176", userAgent: "curl/8.5.0" },
      requestId: "JKJaXmPLvHcESHA=",
      routeKey,
      stage: "$default",
      time: "10/Mar/2026:05:16:23 +0000",
      timeEpoch: 1_773_119_783_000,
    },
    // Text comes as it is, anything else in base64; the gateway judges by the content type.
    ...(body === undefined
      ? { isBase64Encoded: false }
      : file === undefined
        ? { body, isBase64Encoded: false }
        : { body: Buffer.from(body).toString("base64"), isBase64Encoded: true }),
  };
}
