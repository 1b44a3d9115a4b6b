/**
 * The one place where an older version of an item becomes the present one. Every item says of which version it is; it is
 * lifted when it is read, one version at a time, and written as the present one whenever it is next written. Nothing
 * walks the table.
 *
 * An item of a version that this code does not know was written by a newer deployment. It is not understood, so nothing
 * is decided on it and nothing is written over it: whoever reads it is told to come again (503), by when this code will
 * have been replaced too.
 */
import * as z from "zod";
import { Unavailable } from "../kernel/unavailable.ts";

type Item = Readonly<Record<string, unknown>>;

/** From one version to the next: what changes. The version itself is counted up by whoever calls it. Pure. */
export type Lift = (old: Item) => Item;

/** By entity, then by the version that a lift starts from. */
export type Lifts = Readonly<Record<string, Readonly<Record<number, Lift>>>>;

/** The shape of the old version, and what it becomes. What the old shape does not name is taken along as it is. */
export const lift =
  <Old>(old: z.ZodType<Old>, change: (item: Old) => Item): Lift =>
  (item) => ({ ...item, ...change(old.parse(item)) });

/** A lift stays for as long as a table may hold an item of its version, which without an expiry is for ever. */
const LIFTS: Lifts = {
  // Of the second version a fork may have sent them, which older code would take for somebody who was let in.
  TARGETS: { 1: (item) => item },
};

type Versioned = z.ZodRawShape & { readonly entity: z.ZodLiteral<string>; readonly schema: z.ZodLiteral<number> };

/** The shape of an item of the present version, made to read every earlier one too. */
export const versioned = <Shape extends Versioned, Config extends z.core.$ZodObjectConfig>(
  present: z.ZodObject<Shape, Config>,
  lifts: Lifts = LIFTS,
) => {
  const { entity, schema }: Versioned = present.shape;
  return z.preprocess((item) => lifted(item, entity.value, schema.value, lifts), present);
};

const marked = z.object({ entity: z.string(), schema: z.int() });
const whole = z.looseObject({});

function lifted(item: unknown, entity: string, present: number, lifts: Lifts): unknown {
  const read = marked.safeParse(item);
  // What is no item of this kind at all is for the shape to refuse.
  if (!read.success || read.data.entity !== entity || read.data.schema === present) return item;
  if (read.data.schema > present) throw newerItem(entity, read.data.schema);
  let at: Item = whole.parse(item);
  for (let version = read.data.schema; version < present; version += 1) {
    const step = lifts[entity]?.[version];
    if (step === undefined) return at;
    at = { ...step(at), entity, schema: version + 1 };
  }
  return at;
}

/** What is not understood here was written by code that is newer than this. */
export function newerItem(entity: string, version?: number): Unavailable {
  const what = `an item ${entity}${version === undefined ? "" : ` of version ${version}`} is newer than this code`;
  return new Unavailable("an item was written by a newer version of the service", { cause: new Error(what) });
}
