/** The App, its installations, tokens and deliveries. */
import { mintToken } from "../auth/tokens.ts";
import { type Answer, type Call, created, notFound, ok, page, type Route } from "../http/call.ts";
import { type Delivery, type Webhooks } from "../webhooks.ts";
import { instant, installation, integration, ownApp } from "../render/basics.ts";
import { repository } from "../render/repository.ts";
import type { Installation } from "../world.ts";
import type { Limits } from "../http/limits.ts";

const installationOf = (call: Call): Installation => {
  const found = call.world.installations.find((one) => `${one.id}` === call.params["installation_id"]);
  if (found === undefined) throw notFound();
  return found;
};

function token(call: Call): Answer {
  const { world, body } = call;
  const { text, token: minted } = mintToken(world, installationOf(call), body);
  const chosen = world.repositories.filter((repo) => minted.repositories?.has(repo.id) ?? false);
  return created({
    token: text,
    expires_at: instant(minted.expiresAt),
    permissions: minted.permissions,
    repository_selection: "selected",
    ...(minted.repositories === null ? {} : { repositories: chosen.map((repo) => repository(world, repo)) }),
  });
}

function repositories(call: Call): Promise<Answer> | Answer {
  const { actor, world } = call;
  if (actor.kind !== "INSTALLATION") throw notFound();
  const { token: held } = actor;
  const seen = world.repositories.filter(
    (repo) => held.installation.repositories.has(repo.id) && (held.repositories?.has(repo.id) ?? true),
  );
  return page(
    call,
    seen,
    (repo) => repository(world, repo),
    (items, total) => ({
      total_count: total,
      repository_selection: "selected",
      repositories: items,
    }),
  );
}

const deliveryItem = (one: Delivery) => ({
  id: one.id,
  guid: one.guid,
  delivered_at: instant(one.at),
  redelivery: one.redelivery,
  duration: Math.round(one.durationMs) / 1000,
  status: one.status,
  status_code: one.statusCode,
  event: one.event,
  action: one.action,
  installation_id: one.installationId,
  repository_id: one.repositoryId,
  throttled_at: null,
});

function deliveryRoutes(webhooks: Webhooks): readonly Route[] {
  const find = (call: Call): Delivery => {
    const found = webhooks.deliveries.find((one) => `${one.id}` === call.params["delivery_id"]);
    if (found === undefined) throw notFound();
    return found;
  };
  return [
    {
      operation: "GET /app/hook/deliveries",
      as: "APP",
      handle: (call) => page(call, webhooks.deliveries.toReversed(), deliveryItem),
    },
    {
      operation: "GET /app/hook/deliveries/{delivery_id}",
      as: "APP",
      handle: (call) => {
        const one = find(call);
        const request = {
          headers: { "X-GitHub-Delivery": one.guid, "X-GitHub-Event": one.event },
          payload: one.payload,
        };
        return ok({ ...deliveryItem(one), request, response: { headers: {}, payload: one.status } });
      },
    },
    {
      operation: "POST /app/hook/deliveries/{delivery_id}/attempts",
      as: "APP",
      handle: (call) => {
        void webhooks.redeliver(find(call).id);
        return { status: 202, body: {} };
      },
    },
  ];
}

export type Manifests = {
  /** Code to the manifest that an operator confirmed; each is good once. */
  readonly codes: Map<string, Readonly<Record<string, unknown>>>;
};

function conversion(call: Call, { codes }: Manifests): Answer {
  const code = call.params["code"] ?? "";
  if (!codes.delete(code)) throw notFound();
  const { app } = call.world;
  return created({
    ...integration(call.world, ownApp(app)),
    client_id: "Iv23liTwinTwinTwinTw",
    client_secret: "b".repeat(40),
    webhook_secret: app.webhookSecret,
    pem: app.privateKey,
  });
}

function appCalled({ world, params }: Call): Answer {
  const slug = params["app_slug"] ?? "";
  const app = slug === world.app.slug ? ownApp(world.app) : world.apps.get(slug);
  if (app === undefined) throw notFound();
  return ok(integration(world, app));
}

export const appRoutes = (webhooks: Webhooks, limits: Limits, manifests: Manifests): readonly Route[] => [
  ...deliveryRoutes(webhooks),
  { operation: "GET /app", as: "APP", handle: ({ world }) => ok(integration(world, ownApp(world.app))) },
  {
    operation: "GET /app/installations",
    as: "APP",
    handle: (call) => page(call, call.world.installations, (one) => installation(call.world, one)),
  },
  {
    operation: "GET /app/installations/{installation_id}",
    as: "APP",
    handle: (call) => ok(installation(call.world, installationOf(call))),
  },
  { operation: "POST /app/installations/{installation_id}/access_tokens", as: "APP", handle: token },
  { operation: "GET /installation/repositories", as: "INSTALLATION", handle: repositories },
  {
    operation: "POST /app-manifests/{code}/conversions",
    as: "ANYBODY",
    handle: (call) => conversion(call, manifests),
  },
  { operation: "GET /apps/{app_slug}", as: "ANYBODY", handle: appCalled },
  {
    operation: "GET /rate_limit",
    as: "ANYBODY",
    handle: () => {
      const state = limits.state(undefined);
      return ok({ resources: { core: state, search: state }, rate: state });
    },
  },
];
