import * as z from "zod";
import { documentedAs } from "./wire.ts";

/** Lower goes first. */
export const PRIORITIES = { urgent: 0, high: 10, medium: 100, low: 200, lowest: 255 } as const;
export type PriorityName = keyof typeof PRIORITIES;
export const PRIORITY_NAMES = ["urgent", "high", "medium", "low", "lowest"] as const;

const byName: ReadonlyMap<string, number> = new Map(Object.entries(PRIORITIES));

/** The name of a value that has one; null for the values between. */
export const priorityName = (value: number): PriorityName | null =>
  PRIORITY_NAMES.find((name) => PRIORITIES[name] === value) ?? null;

/** A number, or null for the default. Names arrive in any case and become their numbers. */
export const priority = documentedAs(
  z.preprocess(
    (value) => (typeof value === "string" ? (byName.get(value.toLowerCase()) ?? value) : value),
    z
      .int({ error: `must be an integer 0..255, one of ${PRIORITY_NAMES.join(", ")}, or null` })
      .min(0)
      .max(255)
      .nullable(),
  ),
  {
    description: "0 is urgent and 255 last; a name stands for its number (medium, 100, is the default, as is null).",
    anyOf: [
      { type: "integer", minimum: 0, maximum: 255 },
      { type: "string", enum: [...PRIORITY_NAMES] },
      { type: "null" },
    ],
  },
);

export const priorityNameOut = z.enum(PRIORITY_NAMES).nullable();
