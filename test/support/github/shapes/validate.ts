/**
 * Holds a value against a schema of an OpenAPI 3.0 document. Pure. A library would do but for two things that matter
 * here: fields that GitHub does not publish are a complaint, and `oneOf` is met by at least one, since GitHub's own
 * alternatives overlap.
 */
export type Schema = {
  readonly $ref?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};

export type Schemas = Readonly<Record<string, Schema>>;

type Look = {
  readonly schemas: Schemas;
  /** Whether a field that the schema does not name is a complaint. */
  readonly closed: boolean;
};

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u;
const OFTEN = "#/components/schemas/";

export const complaints = (schema: Schema, value: unknown, schemas: Schemas, closed = true): readonly string[] =>
  look(schema, value, "", { schemas, closed });

function look(given: Schema, value: unknown, at: string, how: Look): readonly string[] {
  const schema = resolved(given, how.schemas);
  if (value === null) return allowsNull(schema, how.schemas) || allowsNull(given, how.schemas) ? [] : [`${at} is null`];
  return [
    ...ofType(schema, value, at),
    ...ofAlternatives(schema, value, at, how),
    ...(schema.properties === undefined && schema.required === undefined ? [] : ofObject(schema, value, at, how)),
    ...ofItems(schema, value, at, how),
  ];
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[schema.$ref.slice(OFTEN.length)];
  if (found === undefined) throw new Error(`the published shapes lack ${schema.$ref}`);
  return resolved(found, schemas);
}

function allowsNull(given: Schema, schemas: Schemas): boolean {
  const schema = resolved(given, schemas);
  const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const says = schema.type !== undefined || schema.enum !== undefined || schema.allOf !== undefined;
  return (
    schema.nullable === true ||
    (schema.enum?.includes(null) ?? false) ||
    (!says && (alternatives.length === 0 || alternatives.some((one) => allowsNull(one, schemas))))
  );
}

function ofType(schema: Schema, value: unknown, at: string): readonly string[] {
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return [`${at} is ${JSON.stringify(value)}, not one of ${JSON.stringify(schema.enum)}`];
  if (schema.type !== undefined && !isOf(schema.type, value)) return [`${at} is no ${schema.type}`];
  if (typeof value !== "string") return [];
  if (schema.format === "date-time" && !DATE_TIME.test(value)) return [`${at} is no date and time: ${value}`];
  if (schema.format === "uri" && !URL.canParse(value)) return [`${at} is no address: ${value}`];
  return value.length > (schema.maxLength ?? Infinity) ? [`${at} is longer than ${schema.maxLength}`] : [];
}

function isOf(type: Schema["type"], value: unknown): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    case undefined:
      return true;
  }
}

function ofAlternatives(schema: Schema, value: unknown, at: string, how: Look): readonly string[] {
  const each = (schema.allOf ?? []).flatMap((one) => look(one, value, at, { ...how, closed: false }));
  const undocumented =
    schema.allOf === undefined || !how.closed ? [] : unknownFields(fieldsOf(schema, how.schemas), value, at);
  const choice = [schema.oneOf, schema.anyOf].flatMap((ways) => {
    if (ways === undefined) return [];
    const answers = ways.map((one) => look(one, value, at, { ...how, closed: how.closed && !schema.properties }));
    if (answers.some((found) => found.length === 0)) return [];
    return [...answers].sort((a, b) => a.length - b.length)[0] ?? [];
  });
  return [...each, ...undocumented, ...choice];
}

/** All fields that an object may have, over its parts; undefined where any is allowed. */
function fieldsOf(given: Schema, schemas: Schemas): ReadonlySet<string> | undefined {
  const schema = resolved(given, schemas);
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return undefined;
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  const sets = parts.map((one) => fieldsOf(one, schemas));
  if (sets.includes(undefined) || (parts.length === 0 && schema.properties === undefined)) return undefined;
  return new Set([...Object.keys(schema.properties ?? {}), ...sets.flatMap((one) => [...(one ?? [])])]);
}

function unknownFields(known: ReadonlySet<string> | undefined, value: unknown, at: string): readonly string[] {
  if (known === undefined || typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([name, one]) => one !== undefined && !known.has(name))
    .map(([name]) => `${at}.${name} is not published`);
}

function ofObject(schema: Schema, value: unknown, at: string, how: Look): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields = new Map<string, unknown>(Object.entries(value));
  const missing = (schema.required ?? []).filter((name) => fields.get(name) === undefined);
  const wrong = Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    fields.get(name) === undefined ? [] : look(one, fields.get(name), `${at}.${name}`, how),
  );
  const isClosed = how.closed && schema.oneOf === undefined && schema.anyOf === undefined;
  const extra = isClosed ? unknownFields(fieldsOf(schema, how.schemas), value, at) : [];
  return [...missing.map((name) => `${at}.${name} is missing`), ...wrong, ...extra];
}

function ofItems(schema: Schema, value: unknown, at: string, how: Look): readonly string[] {
  const { items } = schema;
  if (!Array.isArray(value)) return [];
  const tooMany = value.length > (schema.maxItems ?? Infinity) ? [`${at} has more than ${schema.maxItems}`] : [];
  return items === undefined
    ? tooMany
    : [...tooMany, ...value.flatMap((one, index) => look(items, one, `${at}[${index}]`, how))];
}
