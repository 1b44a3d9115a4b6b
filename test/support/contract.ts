/**
 * Holds an answer against the committed OpenAPI document, strictly: a field that the document does not declare is as
 * wrong as one that is missing. Answers what is wrong, in words; asserts nothing.
 */
import * as z from "zod";
import document from "../../shared/api/openapi.json" with { type: "json" };
import type { Called } from "./server.ts";

type Node = {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Node[] | undefined;
  readonly items?: Node | undefined;
  readonly properties?: Readonly<Record<string, Node>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | Node | undefined;
  readonly format?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly "x-enum-case"?: string | undefined;
};

const node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(node).optional(),
    items: node.optional(),
    properties: z.record(z.string(), node).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), node]).optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    "x-enum-case": z.string().optional(),
  }),
);

const media = z.object({ schema: node });
const operation = z.object({
  responses: z.record(
    z.string(),
    z.object({ description: z.string(), content: z.record(z.string(), media).optional() }),
  ),
});
const api = z
  .object({
    paths: z.record(z.string(), z.object({ get: operation.optional(), post: operation.optional() })),
    components: z.object({ schemas: z.record(z.string(), node) }),
  })
  .parse(document);

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  null: (value) => value === null,
};

type Case = "upper" | "lower";

function problems(schema: Node, value: unknown, at: string, enumCase: Case): readonly string[] {
  if (schema.$ref !== undefined)
    return problems(api.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, value, at, enumCase);
  if (schema.anyOf !== undefined) {
    const tried = schema.anyOf.map((one) => problems(one, value, at, enumCase));
    return tried.some((found) => found.length === 0) ? [] : (tried.toSorted((a, b) => a.length - b.length)[0] ?? []);
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => TYPES[type]?.(value) === true)) return [`${at} is no ${types.join()}`];
  return [
    ...ofValue(schema, value, at, enumCase),
    ...ofList(schema, value, at, enumCase),
    ...ofFields(schema, value, at, enumCase),
  ];
}

function ofValue(schema: Node, value: unknown, at: string, enumCase: Case): readonly string[] {
  const found: string[] = [];
  const follows = schema["x-enum-case"] === "token" && typeof value === "string";
  const cased = follows && enumCase === "lower" ? value.toUpperCase() : value;
  if (follows && value !== (enumCase === "lower" ? value.toLowerCase() : value.toUpperCase()))
    found.push(`${at} is in the wrong case: ${value}`);
  if (schema.enum !== undefined && !schema.enum.includes(cased)) found.push(`${at} is none of its enum`);
  if ("const" in schema && schema.const !== undefined && schema.const !== value) found.push(`${at} is not its const`);
  if (schema.format === "date-time" && !RFC_3339.test(String(value))) found.push(`${at} is no time: ${String(value)}`);
  if (typeof value === "number" && (value < (schema.minimum ?? value) || value > (schema.maximum ?? value)))
    found.push(`${at} is out of bounds`);
  return found;
}

function ofList(schema: Node, value: unknown, at: string, enumCase: Case): readonly string[] {
  const { items } = schema;
  if (!Array.isArray(value) || items === undefined) return [];
  return value.flatMap((one: unknown, index) => problems(items, one, `${at}[${index}]`, enumCase));
}

function ofFields(schema: Node, value: unknown, at: string, enumCase: Case): readonly string[] {
  if (!isRecord(value)) return [];
  const declared = schema.properties ?? {};
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`);
  const more = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  const wrong = Object.entries(value).flatMap(([name, of]) => {
    const one = declared[name] ?? more;
    return one === undefined ? [`${at}.${name} is not declared`] : problems(one, of, `${at}.${name}`, enumCase);
  });
  return [...missing, ...wrong];
}

/** Everything in which an answer of an endpoint is not what the document says. */
export function contractProblems(path: string, answer: Called, enumCase: Case = "upper"): readonly string[] {
  const declared = api.paths[path]?.post ?? api.paths[path]?.get;
  const response = declared?.responses[String(answer.status)];
  if (response === undefined) return [`${path} declares no ${answer.status}`];
  const found: string[] = [];
  const requestId = answer.headers.get("x-request-id");
  if (requestId === null) found.push(`${path} ${answer.status} has no x-request-id`);
  const json = response.content?.["application/json"];
  if (json !== undefined) found.push(...problems(json.schema, answer.body, `${path} ${answer.status}`, enumCase));
  if (answer.status === 200) return found;
  const { code, requestId: named } = errorOf(answer);
  // A replay is the first answer again, with the id under which that one is in the log.
  const isReplay = answer.headers.get("idempotency-replayed") === "true";
  if (named !== requestId && !isReplay)
    found.push(`${path} ${answer.status} names the request id ${named}, not ${requestId}`);
  if (!response.description.includes(`\`${code}\``)) found.push(`${path} ${answer.status} does not declare ${code}`);
  return found;
}

const errorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    requestId: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
});
export type ApiError = z.output<typeof errorBody>["error"];

/** The one shape of every error; empty where the answer is none of it. */
export const errorOf = (answer: Called): ApiError =>
  errorBody.safeParse(answer.body).data?.error ?? { code: "", message: "", requestId: "" };

/** The paths of all endpoints that the document lists with a method, below `/v1`. */
export const documentedPaths = (method: "get" | "post"): readonly string[] =>
  Object.entries(api.paths).flatMap(([path, at]) => (at[method] === undefined ? [] : [path]));
