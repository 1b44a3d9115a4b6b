/** The gateway as it would be deployed, and that it serves what the local one serves. */
import type { AddressInfo } from "node:net";
import * as z from "zod";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeGateway, createGateway } from "../../infra/local/gateway.ts";
import { allRoutes } from "../../shared/api/routes.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { functionsOf, referredTo, stageNames, type Synthesised, synthesise } from "./template.ts";

const route = z.object({
  RouteKey: z.string(),
  AuthorizationType: z.string(),
  AuthorizerId: z.unknown().optional(),
  Target: z.unknown(),
});
const authorizer = z.object({
  AuthorizerType: z.literal("REQUEST"),
  AuthorizerPayloadFormatVersion: z.literal("2.0"),
  EnableSimpleResponses: z.literal(true),
  IdentitySource: z.array(z.string()).optional(),
  AuthorizerResultTtlInSeconds: z.number(),
  AuthorizerUri: z.unknown(),
});

type Served = {
  /** `POST /v1/getQueue`, or `$default`. */
  readonly key: string;
  /** The function's, or "none that may be called". */
  readonly by: string;
  readonly authorizer: z.output<typeof authorizer> | undefined;
};

/** Routes with the functions that answer them, which the gateway may call for exactly this route. */
function servedBy(made: Synthesised): readonly Served[] {
  const { api } = made.parts;
  const functions = new Map(functionsOf(made).map(({ id, name }) => [id, name]));
  const integrations = new Map(
    api.of("ApiGatewayV2::Integration").map((one) => [one.id, referredTo(one.Properties["IntegrationUri"])]),
  );
  const authorizers = new Map(
    api.of("ApiGatewayV2::Authorizer").map((one) => [one.id, authorizer.parse(one.Properties)]),
  );
  const permitted = new Set(
    api.of("Lambda::Permission").map(({ Properties }) => {
      const source = JSON.stringify(Properties["SourceArn"]);
      return `${referredTo(Properties["FunctionName"])} ${/\/\*\/\*(?<path>[^"]*)"/u.exec(source)?.groups?.["path"]}`;
    }),
  );
  return api.of("ApiGatewayV2::Route").map(({ Properties }) => {
    const { RouteKey, AuthorizationType, AuthorizerId, Target } = route.parse(Properties);
    const id = integrations.get(referredTo(Target)) ?? "";
    const path = RouteKey === "$default" ? "" : (RouteKey.split(" ")[1] ?? "");
    const isPermitted = permitted.has(`${id} ${path}`);
    const guarded = AuthorizationType === "CUSTOM" ? authorizers.get(referredTo(AuthorizerId)) : undefined;
    return {
      key: RouteKey,
      by: isPermitted ? (functions.get(id) ?? "nobody") : "none that may be called",
      authorizer: guarded,
    };
  });
}

describe.each(stageNames)("stage %s", (stage) => {
  const made = synthesise(stage);
  const { parts, settings } = made;
  const served = servedBy(made);

  test("every route of the table of routes is one of the gateway's, with its own function, and there is no other", () => {
    expect(served.map(({ key, by }) => `${key} ${by}`).toSorted()).toEqual(
      [...allRoutes.map(({ id, method, path }) => `${method} /v1${path} ${id}`), "$default unknown-path"].toSorted(),
    );
  });

  test("every route that needs a token has the authorizer that asks for one", () => {
    for (const { id, auth } of allRoutes) {
      const found = served.find(({ by }) => by === id)?.authorizer;
      const { IdentitySource, AuthorizerResultTtlInSeconds } = found ?? {};
      const wanted = {
        token: [["$request.header.x-api-token"], 60],
        "token-or-fork": [[], 0],
        none: ["open", undefined],
      }[auth];
      const source = found === undefined ? "open" : (IdentitySource ?? []);
      expect([id, source, AuthorizerResultTtlInSeconds]).toEqual([id, ...wanted]);
    }
    const uris = parts.api
      .of("ApiGatewayV2::Authorizer")
      .map(({ Properties }) => referredTo(Properties["AuthorizerUri"]));
    const functions = new Map(functionsOf(made).map(({ id, name }) => [id, name]));
    expect(uris.map((id) => functions.get(id))).toEqual(["authorize-token", "authorize-token"]);
  });

  test("it throttles, logs every request as JSON, and lets no page of another origin in", () => {
    const [api] = parts.api.of("ApiGatewayV2::Api");
    expect(api?.Properties).not.toHaveProperty("CorsConfiguration");
    const [one, ...others] = parts.api.of("ApiGatewayV2::Stage");
    expect(others).toEqual([]);
    const { requestsPerSecond, burst } = settings.throttling;
    expect(one?.Properties).toMatchObject({
      StageName: "$default",
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: requestsPerSecond, ThrottlingBurstLimit: burst },
    });
    const log = z
      .object({ Format: z.string(), DestinationArn: z.unknown() })
      .parse(one?.Properties["AccessLogSettings"]);
    expect(JSON.parse(log.Format)).toMatchObject({ status: "$context.status", requestId: "$context.requestId" });
    expect(log.Format).not.toMatch(/header|token"|x-api-token/iu);
  });

  test("it answers under a name of one's own where the stage has one", () => {
    const names = parts.api.of("ApiGatewayV2::DomainName").map(({ Properties }) => Properties["DomainName"]);
    expect(names).toEqual(settings.domain === undefined ? [] : [settings.domain.name]);
    expect(parts.api.of("Route53::RecordSet").length).toBe(settings.domain?.hostedZone === undefined ? 0 : 1);
  });
});

describe("the local server and the stacks", () => {
  const served = servedBy(synthesise("prod"));
  const gateway = createGateway({
    routes: allRoutes,
    handler: async (id) => async () => ({ statusCode: 200, headers: {}, body: id }),
    authorize: async () => ({ isAuthorized: true, context: { org: "local" } }),
    log: silentLog,
  });
  let origin = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      gateway.listen(0, "127.0.0.1", resolve);
    });
    // Safe: a server that listens on a port has an address of this kind.
    origin = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });
  afterAll(() => closeGateway(gateway, 1_000));

  const asks = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${origin}${path}`, { method, headers });
    return { status: answer.status, body: await answer.text() };
  };

  test.each(served.filter(({ key }) => key !== "$default"))(
    "$key is answered by the same function",
    async ({ key, by }) => {
      const [method = "", path = ""] = key.split(" ");
      expect(await asks(method, path, { "x-api-token": "any" })).toEqual({ status: 200, body: by });
    },
  );

  test.each(served.filter(({ key }) => key !== "$default"))(
    "$key without a token is refused by both gateways, or by none",
    async ({ key, authorizer: asked, by }) => {
      const [method = "", path = ""] = key.split(" ");
      const { status, body } = await asks(method, path);
      // A gateway refuses by itself where the authorizer names the header that it needs.
      if ((asked?.IdentitySource ?? []).length > 0)
        expect([status, JSON.parse(body)]).toEqual([401, { message: "Unauthorized" }]);
      else expect([status, body]).toEqual([200, by]);
    },
  );

  test("whatever no route takes goes to the same function", async () => {
    const fallback = served.find(({ key }) => key === "$default")?.by;
    for (const [method, path] of [
      ["GET", "/v1/getQueue"],
      ["POST", "/getQueue"],
      ["DELETE", "/v1/nothing"],
      ["POST", "/v1//getQueue"],
    ] as const)
      expect(await asks(method, path)).toEqual({ status: 200, body: fallback });
  });
});
