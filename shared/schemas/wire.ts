/** How values look on the wire, in both directions: text, enums, times, numbers. */
import * as z from "zod";
import { epochMs } from "../kernel/time.ts";

/** Metadata that stands in the OpenAPI document too, and marks what a token's enum case applies to. */
export const ENUM_CASE = "x-enum-case";
const followsToken = { [ENUM_CASE]: "token" } as const;

/** An enum of replies, UPPER_SNAKE here; `endpoint()` writes it in the token's case. */
export const wireEnum = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values).meta(followsToken);

/** As `wireEnum`, for lists that grow with the service (reasons): clients must expect new words. */
export const wireWord = () => z.string().meta(followsToken);

/** The same enum in requests, where case does not matter. */
export const enumIn = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.preprocess(
    (value) => (typeof value === "string" ? value.toUpperCase() : value),
    z.enum(values, {
      error: (issue) => (issue.input === undefined ? undefined : `must be one of ${values.join(", ")}`),
    }),
  );

/** Text with half a character in it cannot be stored or hashed faithfully as UTF-8. */
const wellFormed = (text: string): boolean => text.isWellFormed();

/** Text of a bounded length in UTF-16 units, which bounds the item it is stored in. */
export const text = (min: number, max: number) =>
  z.string().min(min).max(max).refine(wellFormed, "must be well-formed Unicode (it holds a lone surrogate)");

/** An RFC 3339 time with any offset, read as milliseconds since 1970; finer fractions are cut. */
export const timeIn = z
  .preprocess(
    // RFC 3339 allows `t` and `z`; the check behind does not.
    (value) => (typeof value === "string" ? value.toUpperCase() : value),
    z.iso.datetime({ offset: true, error: "must be an RFC 3339 time, such as 2026-01-31T12:00:00.000Z" }),
  )
  .transform((value) => epochMs(Date.parse(value)));

/** RFC 3339, UTC, milliseconds, `Z`; made by `toRfc3339`. */
export const timeOut = z.string().meta({ format: "date-time" });

export const int = (min: number, max: number) => z.int().min(min).max(max);

/** States what the OpenAPI document says of a schema that JSON Schema cannot see into. */
export const documentedAs = <Schema extends z.ZodType>(schema: Schema, jsonSchema: Record<string, unknown>): Schema =>
  schema.meta({ wire: jsonSchema });

/**
 * Runs a check across fields although others of them are wrong, so that all problems are told at once. Only fields
 * for which `ready` answers true have their parsed types by then.
 */
export const across = (ready: (fields: Readonly<Record<string, unknown>>) => boolean) => ({
  when: ({ value }: { readonly value: unknown }): boolean => {
    const fields = z.record(z.string(), z.unknown()).safeParse(value);
    return fields.success && ready(fields.data);
  },
});
