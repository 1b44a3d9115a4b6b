/** Items as the table holds them, as text: DynamoDB's own JSON, one to a line, bytes in base64. */
import { readdirSync, readFileSync } from "node:fs";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";

export type RawItem = Record<string, AttributeValue>;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function withText(_name: string, value: unknown): unknown {
  if (isObject(value) && value["B"] instanceof Uint8Array) return { B: Buffer.from(value["B"]).toString("base64") };
  return value;
}

function withBytes(_name: string, value: unknown): unknown {
  if (isObject(value) && typeof value["B"] === "string")
    return { B: new Uint8Array(Buffer.from(value["B"], "base64")) };
  return value;
}

const keyOf = ({ pk, sk }: RawItem): string => `${pk?.S ?? ""} ${sk?.S ?? ""}`;

export function toText(items: readonly RawItem[]): string {
  const sorted = items.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
  return sorted.map((item) => `${JSON.stringify(item, withText)}\n`).join("");
}

export const entityOf = ({ entity, schema }: RawItem): string => `${entity?.S ?? "?"} ${schema?.N ?? "?"}`;

const FOLDER = new URL(".", import.meta.url);

/** By file: `v1.jsonl`, `v2.jsonl` … */
export function goldenFiles(): ReadonlyMap<string, readonly RawItem[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl"));
  const linesOf = (name: string): readonly string[] =>
    readFileSync(new URL(name, FOLDER), "utf8").trimEnd().split("\n");
  return new Map(names.map((name) => [name, linesOf(name).map((line): RawItem => JSON.parse(line, withBytes))]));
}
