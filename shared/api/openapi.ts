/** The OpenAPI 3.1 document, made from the route table; nothing about an endpoint is written a second time here. */
import * as z from "zod";
import { ERROR_CODES } from "./error-codes.ts";
import { type Json, operationId, ref, requestName, schemasOf } from "./json-schemas.ts";
import { responsesOf } from "./openapi-responses.ts";
import { isInQuery, type Route } from "./route.ts";
import { allRoutes } from "./routes.ts";
import { API_VERSION } from "./version.ts";

const ABOUT = `A merge queue and test-health service that runs in your own account.

Every answer carries \`x-request-id\`; errors have one shape, and their \`code\` is stable. Unknown request fields are ignored. Enums are read in any case and written in UPPER_SNAKE; a token that was created with \`--enum-case lower\` gets those marked \`x-enum-case: token\` in lower case. A request body is at most 20 MiB when decoded; gzip is accepted (\`Content-Encoding: gzip\` or \`Content-Type: application/gzip\`). A repeated slash in the path is answered 308.`;

export function openApi(): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Mainline",
      version: API_VERSION,
      description: ABOUT,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/v1" }],
    security: [{ token: [] }],
    tags: [...new Set(allRoutes.map((route) => route.tag))].map((name) => ({ name })),
    paths: Object.fromEntries(
      allRoutes.map((route) => [route.path, { [route.method.toLowerCase()]: operation(route) }]),
    ),
    components: {
      schemas: schemasOf(allRoutes, ERROR_CODES),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: HEADERS,
      securitySchemes: SECURITY,
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The same key and body within 24 hours give the first answer again, with `Idempotency-Replayed: true`. Scoped to token and route.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const HEADERS = {
  RequestId: { description: "Names this request in every log line of ours.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait before trying again.", schema: { type: "integer" } },
  IdempotencyReplayed: { description: "`true` on an answer that was given before.", schema: { type: "string" } },
};

const SECURITY = {
  token: { type: "apiKey", in: "header", name: "x-api-token" },
  fork: {
    type: "apiKey",
    in: "header",
    name: "x-forked-workflow-run-id",
    description: "The id of a running GitHub Actions workflow of a fork's pull request, which has no token.",
  },
};

const securityOf = {
  token: {},
  "token-or-fork": { security: [{ token: [] }, { fork: [] }] },
  none: { security: [] },
} as const;

function operation(route: Route): Json {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    description: route.scope === null ? route.description : `${route.description}\n\nScope: \`${route.scope}\`.`,
    ...securityOf[route.auth],
    ...(isInQuery(route) ? query(route) : {}),
    ...(route.method === "GET" ? {} : body(route)),
    responses: responsesOf(route),
  };
}

const FILE = { schema: { type: "string", format: "binary" } };

function body(route: Route): Json {
  if (route.body === undefined) return jsonBody(route);
  const content = route.body === "xml" ? { "application/xml": FILE, "text/xml": FILE } : { "application/json": FILE };
  return { requestBody: { required: true, content } };
}

const jsonBody = (route: Route): Json => ({
  ...(route.writes ? { parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }] } : {}),
  requestBody: { required: true, content: { "application/json": { schema: ref(requestName(route)) } } },
});

/** Such a request is flat: each field is a parameter. */
function query(route: Route): Json {
  const { properties = {}, required: needed = [] } = z.toJSONSchema(route.request, { io: "input" });
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: needed.includes(name),
    schema,
  }));
  return parameters.length === 0 ? {} : { parameters };
}
