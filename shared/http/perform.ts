import { createHash } from "node:crypto";
import * as z from "zod";
import type { ErrorCode } from "../api/error-codes.ts";
import { type BodyOf, type InputOf, isInQuery, type Route } from "../api/route.ts";
import type { Receipt } from "../kernel/receipt.ts";
import { ok, type Result } from "../kernel/result.ts";
import { answer, faultAnswer } from "./answer.ts";
import type { Principal } from "./authorizer-answer.ts";
import { type Answer, type ApiEvent, header, requestIdOf } from "./event.ts";
import { answerOnce, fingerprintOf, readKey } from "./idempotency.ts";
import { inWords, invalid } from "./issues.ts";
import { renderer } from "./render.ts";
import type { EndpointPorts, EndpointRequest, OpenPorts } from "./use-case.ts";

export type AnyRun<R extends Route> = (
  request: EndpointRequest<R, Principal | undefined>,
) => Promise<Result<BodyOf<R>, ErrorCode>>;

/** Without a token there are no keys either. */
export type AnyPorts = OpenPorts & Partial<EndpointPorts>;

export type Perform = (event: ApiEvent, principal: Principal | undefined, file: Uint8Array) => Promise<Answer>;

/** What is left once the caller is known and the body is JSON: parse, use case, reply. */
export function performer<R extends Route>(route: R, ports: () => AnyPorts, run: AnyRun<R>): Perform {
  const render = renderer(route);
  return async (event, principal, file) => {
    const requestId = requestIdOf(event);
    const read = readInput(route, event);
    if (!read.ok) return faultAnswer(requestId, read.fault);
    const input = read.value;
    const work = async (receipt?: Receipt): Promise<Answer> => {
      const open = receipt && { receipt: { ...receipt, answer: (body: BodyOf<R>) => render(body, principal) } };
      const headerOf = (name: string) => header(event, name);
      const result = await run({ input, file, header: headerOf, principal, requestId, ...open });
      if (!result.ok) return faultAnswer(requestId, result.fault);
      return answer(requestId, 200, render(result.value, principal), { "content-type": route.media });
    };
    const key = route.writes ? header(event, "idempotency-key") : undefined;
    const { log, clock, idempotency } = ports();
    if (key === undefined || principal === undefined || idempotency === undefined) return work();
    // A file is as much of the request as its query is.
    const asked = file.length === 0 ? input : [input, createHash("sha256").update(file).digest("hex")];
    return underKey({ key, route, principal, requestId, input: asked, ports: { log, clock, idempotency } }, work);
  };
}

// The parser has put the body's value in the place of its text.
function readInput<R extends Route>(route: R, event: ApiEvent): Result<InputOf<R>, "INVALID_REQUEST"> {
  const schema: R["request"] = route.request;
  const source: unknown = isInQuery(route) ? (event.queryStringParameters ?? {}) : event.body;
  const read = z.safeParse(schema, source, { error: inWords });
  return read.success ? ok(read.data) : invalid(read.error);
}

type Keyed = {
  readonly key: string;
  readonly route: Route;
  readonly principal: Principal;
  readonly requestId: string;
  readonly input: unknown;
  readonly ports: EndpointPorts;
};

async function underKey(call: Keyed, work: (receipt: Receipt) => Promise<Answer>): Promise<Answer> {
  const { principal, requestId, ports } = call;
  const read = readKey(call.key);
  if (!read.ok) return faultAnswer(requestId, read.fault);
  const key = { org: principal.org, tokenId: principal.tokenId, route: call.route.id, key: read.value };
  const fingerprint = fingerprintOf(call.input);
  const { log, clock, idempotency: store } = ports;
  return answerOnce({ store, log, now: clock(), requestId, key, fingerprint }, work);
}
