/** The twin's answers, the requests it gets and the webhooks it sends, held against what GitHub publishes. */
import { readFileSync } from "node:fs";
import type { components } from "@octokit/openapi-types";
import type { EventName, Operation } from "./used.ts";
import { complaints, type Schema, type Schemas } from "./validate.ts";

export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

type Published = {
  /** GitHub warns that calling this too quickly may hit its limits on creating content. */
  readonly notifies: boolean;
  readonly request: Schema | null;
  readonly answers: Readonly<Record<string, Schema | null>>;
};

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));

const operations = read("operations.json") as Readonly<Record<Operation, Published>>;
const webhooks = read("webhooks.json") as Readonly<Record<EventName, Schema>>;
const schemas = read("schemas.json") as Schemas;

const ERROR: Schema = { $ref: "#/components/schemas/basic-error" };

export const notifies = (operation: Operation): boolean => operations[operation].notifies;

/** Complaints about an answer. An error that GitHub does not list for the operation has its general shape. */
export function aboutAnswer(operation: Operation, status: number, body: unknown): readonly string[] {
  const { answers } = operations[operation];
  const published = answers[`${status}`];
  if (status < 300 && published === undefined) return [`${operation} does not answer ${status}`];
  if (body === undefined) return published ? [`${operation} has no body for ${status}`] : [];
  const schema = published ?? ERROR;
  return complaints(schema, body, schemas, status < 300).map((one) => `${operation} ${status}: ${one}`);
}

export const aboutRequest = (operation: Operation, body: unknown): readonly string[] => {
  const schema = operations[operation].request;
  return schema === null ? [] : complaints(schema, body ?? {}, schemas, false);
};

export const aboutWebhook = (event: EventName, payload: unknown): readonly string[] =>
  complaints(webhooks[event], payload, schemas).map((one) => `${event}: ${one}`);
