/**
 * Enum values in lower case, for tokens that ask for it. What to change is read once from the reply's schema, so that
 * a reply costs a walk over its enum-bearing parts only.
 */
import * as z from "zod";
import { ENUM_CASE } from "../schemas/wire.ts";

/** Gives the same value with its enums in lower case; never changes its argument. */
export type Recase = (value: unknown) => unknown;

type Schema = z.core.$ZodType;

const lower: Recase = (value) => (typeof value === "string" ? value.toLowerCase() : value);

const followsToken = (schema: Schema): boolean => z.globalRegistry.get(schema)?.[ENUM_CASE] === "token";

/** Undefined where nothing in the schema follows the token. */
export function recaseOf(schema: Schema): Recase | undefined {
  if (followsToken(schema)) return lower;
  if (schema instanceof z.ZodObject) return ofObject(schema.shape);
  if (schema instanceof z.ZodArray) return each(recaseOf(schema.element));
  if (schema instanceof z.ZodRecord) return eachValue(recaseOf(schema.valueType));
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return recaseOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return allOf(schema.options.map(recaseOf));
  return leaf(schema);
}

const LEAVES = new Set(["string", "number", "int", "boolean", "literal", "enum", "unknown"]);

// A new kind of schema in a reply must be thought about: silence would leave its enums in the wrong case.
function leaf(schema: Schema): undefined {
  if (!LEAVES.has(schema._zod.def.type)) throw new Error(`no casing rule for a reply's ${schema._zod.def.type}`);
  return undefined;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function ofObject(shape: Readonly<Record<string, Schema>>): Recase | undefined {
  const fields = Object.entries(shape).flatMap(([name, schema]) => {
    const recase = recaseOf(schema);
    return recase === undefined ? [] : [{ name, recase }];
  });
  if (fields.length === 0) return undefined;
  return (value) => {
    if (!isFields(value)) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const { name, recase } of fields) if (name in value) copy[name] = recase(value[name]);
    return copy;
  };
}

const each = (recase: Recase | undefined): Recase | undefined =>
  recase && ((value) => (isList(value) ? value.map(recase) : value));

const eachValue = (recase: Recase | undefined): Recase | undefined =>
  recase &&
  ((value) =>
    isFields(value) ? Object.fromEntries(Object.entries(value).map(([name, of]) => [name, recase(of)])) : value);

/** Each branch leaves alone what it does not recognise, so trying all of them is choosing the right one. */
function allOf(recases: readonly (Recase | undefined)[]): Recase | undefined {
  const some = recases.filter((recase) => recase !== undefined);
  return some.length === 0 ? undefined : (value) => some.reduce((result, recase) => recase(result), value);
}
