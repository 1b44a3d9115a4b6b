/** What needs no token, and what tokens open. */
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { allRoutes } from "../../shared/api/routes.ts";
import { mintToken } from "../../shared/auth/token-format.ts";
import { type Check, codeOf, outcome, refused, refusedByGateway, succeeded, told } from "./check.ts";

const JSON_TYPE = { "content-type": "application/json" };
const openApi = z.object({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) });

export const open: readonly Check[] = [
  {
    name: "GET /status without a token",
    run: async ({ send }) => succeeded(await send("/status", { method: "GET" })),
  },
  {
    name: "GET /openapi.json without a token lists the endpoints of this version",
    run: async ({ send }) => {
      const reply = await send("/openapi.json", { method: "GET" });
      const read = openApi.safeParse(reply.json);
      if (!read.success) return outcome("fail", `${told(reply)}; expected an OpenAPI document`);
      const listed = new Set(Object.keys(read.data.paths));
      const missing = allRoutes.filter(({ path }) => !listed.has(path) && !listed.has(`/v1${path}`));
      if (missing.length > 0) return outcome("fail", `lacks ${missing.map(({ path }) => path).join(", ")}`);
      return succeeded(reply, `, OpenAPI ${read.data.openapi}, ${listed.size} paths`);
    },
  },
  {
    name: "POST /webhooks/github without a signature",
    run: async ({ send }) => {
      const reply = await send("/webhooks/github", { headers: JSON_TYPE, body: "{}" });
      if (codeOf(reply) === "UNKNOWN_PATH") return outcome("skip", "this deployment has no address for webhooks");
      const isRefused = reply.status >= 400 && reply.status < 500;
      return outcome(isRefused ? "pass" : "fail", isRefused ? told(reply) : `${told(reply)}; expected a refusal`);
    },
  },
];

const withToken = (token: string) => ({ ...JSON_TYPE, "x-api-token": token });
const WHO_ASKS = { body: "{}" };

export const tokens: readonly Check[] = [
  {
    name: "the token given",
    run: async ({ send, token }) => succeeded(await send("/listQueues", { ...WHO_ASKS, headers: withToken(token) })),
  },
  {
    name: "no token: the gateway's own answer",
    run: async ({ send }) => refusedByGateway(await send("/listQueues", { ...WHO_ASKS, headers: JSON_TYPE }), 401),
  },
  {
    name: "an empty token: the gateway's own answer",
    run: async ({ send }) => refusedByGateway(await send("/listQueues", { ...WHO_ASKS, headers: withToken("") }), 401),
  },
  {
    name: "no token at /setImpactedTargets, whose authorizer is the service's own",
    run: async ({ send }) =>
      refused(await send("/setImpactedTargets", { ...WHO_ASKS, headers: JSON_TYPE }), 401, "UNAUTHENTICATED"),
  },
  {
    name: "a malformed token",
    run: async ({ send }) =>
      refused(await send("/listQueues", { ...WHO_ASKS, headers: withToken("not-a-token") }), 401, "UNAUTHENTICATED"),
  },
  {
    name: "a well-formed token that nobody was given",
    run: async ({ send }) => {
      const headers = withToken(mintToken(randomBytes));
      return refused(await send("/listQueues", { ...WHO_ASKS, headers }), 401, "UNAUTHENTICATED");
    },
  },
  {
    name: "a token without the scope",
    run: async ({ send, readToken, scratch }) => {
      if (readToken === undefined) return outcome("skip", "give --read-token, a token of the scope read alone");
      const body = JSON.stringify(scratch);
      return refused(await send("/createQueue", { body, headers: withToken(readToken) }), 403, "FORBIDDEN");
    },
  },
  {
    name: "names of headers in capitals",
    run: async ({ send, token }) =>
      succeeded(
        await send("/listQueues", {
          ...WHO_ASKS,
          headers: { "X-API-TOKEN": token, "CONTENT-TYPE": "application/json" },
        }),
      ),
  },
];
