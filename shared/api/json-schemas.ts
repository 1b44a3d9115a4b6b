/** The wire's zod schemas as OpenAPI components; shapes with an id of their own become components of that name. */
import * as z from "zod";
import { errorBody } from "../schemas/errors.ts";
import { isInQuery, type Route } from "./route.ts";

export type Json = Readonly<Record<string, unknown>>;

/** `get-queue` → `getQueue`. */
export const operationId = (route: Route): string =>
  route.id.replaceAll(/-(?<letter>.)/gu, (_, letter: string) => letter.toUpperCase());

const capital = (text: string): string => text.replace(/^./u, (letter) => letter.toUpperCase());

export const requestName = (route: Route): string => `${capital(operationId(route))}Request`;
export const replyName = (route: Route): string =>
  z.globalRegistry.get(route.reply)?.id ?? `${capital(operationId(route))}Reply`;

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export function schemasOf(routes: readonly Route[], codes: readonly string[]): Json {
  const components: Record<string, unknown> = {};
  const add = (name: string, schema: z.ZodType, io: "input" | "output"): void => {
    const { $defs, ...root } = z.toJSONSchema(schema, { io });
    // A shape with an id stands among its own definitions, and the root is a mere reference to it: definitions win.
    Object.assign(components, { [name]: tidy(root) }, tidyAll($defs ?? {}));
  };
  for (const route of routes) {
    // What stands in the query stands in the parameters.
    if (!isInQuery(route)) add(requestName(route), route.request, "input");
    if (route.media === "application/json") add(replyName(route), route.reply, "output");
  }
  add("Error", errorBody(codes), "output");
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

const tidyAll = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, tidy(schema)]));

/** From zod's JSON Schema to what stands in the document. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isJson(value)) return value;
  if (isJson(value["wire"])) return value["wire"];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, of]) => !isNoise(key, of))
      .map(([key, of]) => [key, key === "$ref" ? String(of).replace("#/$defs/", "#/components/schemas/") : tidy(of)]),
  );
}

/**
 * The keys that would mislead: bounds that are JavaScript's and not ours, closed objects (replies may gain fields),
 * and a pattern that is stricter than the format beside it.
 */
const isNoise = (key: string, value: unknown): boolean =>
  key === "$schema" ||
  (key === "id" && typeof value === "string") ||
  (key === "additionalProperties" && value === false) ||
  (key === "pattern" && String(value).includes("\\d{4}-")) ||
  Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
