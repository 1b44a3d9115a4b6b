/** API Gateway in front of the functions: who sends which token, and what comes back, if anything does. */
import { apiAnswer, authorizerAnswer, loadFunction } from "../../../infra/local/functions.ts";
import { lambdaContext } from "../../../infra/local/gateway-event.ts";
import type { Route } from "../../../shared/api/route.ts";
import { type RouteId, routes } from "../../../shared/api/routes.ts";
import type { ApiEvent } from "../../../shared/http/event.ts";
import type { Random } from "../../crash/random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Site } from "./site.ts";
import { virtualUuid } from "./virtual.ts";

export type Sent = {
  readonly id: RouteId;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** No answer: the caller does not know whether anything happened. */
export const LOST = "LOST";

/** What the functions are: loaded once, before any simulation begins. */
export async function loadFunctions() {
  const ids = Object.keys(routes).filter((id): id is RouteId => id in routes);
  const api = new Map(
    await Promise.all(ids.map(async (id) => [id, await loadFunction("api", id, apiAnswer)] as const)),
  );
  return { api, authorizer: await loadFunction("workers", "authorize-token", authorizerAnswer) };
}
export type Functions = Awaited<ReturnType<typeof loadFunctions>>;

const CLIENT_MS_MAX = 30_000;
/** A function that takes longer gives up by itself. */
export const FUNCTION_MS_MAX = 29_000;
const AUTHORIZER_CACHE_MS = 60_000;

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export class Gateway {
  private readonly functions: Functions;
  private readonly site: Site;
  private readonly scheduler: Scheduler;
  private readonly random: Random;
  private readonly known = new Map<string, { readonly until: number; readonly principal: unknown }>();

  constructor(functions: Functions, site: Site, scheduler: Scheduler, random: Random) {
    this.functions = functions;
    this.site = site;
    this.scheduler = scheduler;
    this.random = random;
  }

  async send(sent: Sent): Promise<Reply | typeof LOST> {
    await this.scheduler.sleep(this.random.int(5, 80));
    const { promise: late, resolve } = Promise.withResolvers<typeof LOST>();
    const stop = this.scheduler.after(CLIENT_MS_MAX, () => resolve(LOST));
    try {
      return await Promise.race([this.answer(sent), late]);
    } finally {
      stop();
    }
  }

  private async answer(sent: Sent): Promise<Reply | typeof LOST> {
    const principal = await this.principal(sent.token);
    if (principal === LOST) return LOST;
    const event = this.event(sent, principal);
    const handler = this.functions.api.get(sent.id);
    if (handler === undefined) throw new Error(`there is no function ${sent.id}`);
    const until = this.scheduler.now() + FUNCTION_MS_MAX;
    const getRemainingTimeInMillis = (): number => Math.max(0, until - this.scheduler.now());
    const { requestId } = event.requestContext;
    const context = { ...lambdaContext(sent.id, requestId, FUNCTION_MS_MAX), getRemainingTimeInMillis };
    const outcome = await this.site.run(sent.id, CLIENT_MS_MAX, () => handler(event, context));
    if (outcome.kind === "THREW") throw outcome.error;
    if (outcome.kind === "DIED") return LOST;
    const { statusCode: status, headers, body } = outcome.value;
    return { status, headers, body: json(body) };
  }

  /** As the gateway asks for it: once a minute per token. */
  private async principal(token: string): Promise<unknown> {
    const known = this.known.get(token);
    if (known !== undefined && known.until > this.scheduler.now()) return known.principal;
    const { authorizer } = this.functions;
    const event = { headers: { "x-api-token": token } };
    const ask = () => authorizer(event, lambdaContext("authorize-token", "authorize", 10_000));
    const outcome = await this.site.run("authorize-token", 10_000, ask);
    // The gateway answers 500 by itself when its authorizer fails.
    if (outcome.kind !== "ANSWERED") return LOST;
    const { context } = outcome.value;
    this.known.set(token, { until: this.scheduler.now() + AUTHORIZER_CACHE_MS, principal: context });
    return context;
  }

  private event({ id, body, idempotencyKey }: Sent, principal: unknown): ApiEvent {
    const route: Route = routes[id];
    const isGet = route.method === "GET";
    const query = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
    const { path, method } = route;
    const http = { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "simulation" };
    return {
      version: "2.0",
      routeKey: id,
      rawPath: path,
      rawQueryString: isGet ? new URLSearchParams(query).toString() : "",
      headers: {
        "content-type": "application/json",
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(isGet ? { queryStringParameters: query } : { body: JSON.stringify(body) }),
      isBase64Encoded: false,
      requestContext: {
        accountId: "1",
        apiId: "simulated",
        domainName: "localhost",
        domainPrefix: "localhost",
        http,
        requestId: virtualUuid(this.random.next),
        routeKey: id,
        stage: "$default",
        time: "",
        timeEpoch: this.scheduler.now(),
        authorizer: { lambda: principal },
      },
    };
  }
}
