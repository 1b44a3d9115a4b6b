/** The side of an endpoint that its use case sees. */
import type { BodyOf, CodeOf, InputOf, Route } from "../api/route.ts";
import type { Log } from "../kernel/log.ts";
import type { OpenReceipt } from "../kernel/receipt.ts";
import type { Result } from "../kernel/result.ts";
import type { Clock } from "../kernel/time.ts";
import type { Principal } from "./authorizer-answer.ts";
import type { IdempotencyStore } from "./idempotency.ts";

/** What every endpoint needs. */
export type OpenPorts = { readonly log: Log; readonly clock: Clock };
export type EndpointPorts = OpenPorts & { readonly idempotency: IdempotencyStore };

export type EndpointRequest<R extends Route, Who = Principal> = {
  readonly input: InputOf<R>;
  /** The body of a route that takes a file, decoded, or of one that takes signed bytes, as they came; empty elsewhere. */
  readonly file: Uint8Array;
  readonly header: (name: string) => string | undefined;
  readonly principal: Who;
  readonly requestId: string;
  /** There when the client sent an `Idempotency-Key`: record the answer with the change, or leave it to the endpoint. */
  readonly receipt?: OpenReceipt<BodyOf<R>>;
};

/** A body or an error code that the route does not declare does not compile. */
export type Run<R extends Route, Who = Principal> = (
  request: EndpointRequest<R, Who>,
) => Promise<Result<BodyOf<R>, CodeOf<R>>>;

export type TokenRoute = Route & { readonly auth: "token" | "token-or-fork" };
export type OpenRoute = Route & { readonly auth: "none" };
