import type * as z from "zod";
import type { CommonError, ErrorCode } from "./error-codes.ts";

export type Scope = "read" | "submit" | "admin";

/** All that is known of an endpoint before its code runs. */
export type Route = {
  /** Also the name of its file in functions/api. */
  readonly id: string;
  readonly method: "GET" | "POST";
  /** Below `/v1`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: "Pull requests" | "Queues" | "Metrics" | "Test health" | "Service";
  /** `token-or-fork`: a workflow of a fork, which has no token, may call it; its authorizer is its own. */
  readonly auth: "token" | "token-or-fork" | "none";
  readonly scope: Scope | null;
  /** Takes `Idempotency-Key`. */
  readonly writes: boolean;
  readonly tableAccess: "none" | "read" | "write";
  /** `xml`: the body is a file as it is, and the request its query. `signed`: so are bytes that a signature is of. */
  readonly body?: "xml" | "signed";
  /** The body; for GET, and where the body is a file, the query string. */
  readonly request: z.ZodType;
  /** The body of 200. */
  readonly reply: z.ZodType;
  /** The `Content-Type` of 200; a reply that is no JSON is sent as it is. */
  readonly media: "application/json" | "text/plain; version=0.0.4; charset=utf-8";
  /** Beyond those that every route of its kind has. */
  readonly errors: readonly ErrorCode[];
};

/** The request's fields stand in the query string. */
export const isInQuery = ({ method, body }: Pick<Route, "method" | "body">): boolean =>
  method === "GET" || body !== undefined;

/** Keeps the exact types of id, schemas and errors, which the handlers' types are made from. */
export const route = <const Id extends string, const Rest extends Omit<Route, "id">>(id: Id, rest: Rest) => ({
  ...rest,
  id,
});

export type InputOf<R extends Route> = z.output<R["request"]>;
export type BodyOf<R extends Route> = z.output<R["reply"]>;
export type CodeOf<R extends Route> = R["errors"][number] | CommonError;
