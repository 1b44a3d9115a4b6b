/** Small shapes that many answers hold. */
import type { Shape } from "../shapes/published.ts";
import type { Account, App, CheckApp, Installation, World } from "../world.ts";

export const nodeId = (kind: string, id: number | string): string => Buffer.from(`${kind}:${id}`).toString("base64url");

/** GitHub tells whole seconds. */
export const instant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/u, "Z");
export const instantOr = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export function user(world: World, account: Account): Shape<"simple-user"> {
  const url = `${world.url}/users/${encodeURIComponent(account.login)}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId("User", account.id),
    avatar_url: `${world.url}/avatars/u/${account.id}`,
    gravatar_id: "",
    url,
    html_url: `${world.url}/${encodeURIComponent(account.login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    user_view_type: "public",
    site_admin: false,
  };
}

export function organization(world: World, account: Account): object {
  const url = `${world.url}/orgs/${account.login}`;
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId("Organization", account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${world.url}/avatars/u/${account.id}`,
    description: null,
  };
}

const BORN = "2024-01-01T00:00:00Z";

export const ownApp = (app: App): CheckApp => ({ id: app.appId, slug: app.slug, name: app.name });

export function integration(world: World, app: CheckApp): NonNullable<Shape<"integration">> {
  const own = app.id === world.app.appId;
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId("App", app.id),
    owner: user(world, world.app.owner),
    name: app.name,
    description: "",
    external_url: `${world.url}/apps/${app.slug}`,
    html_url: `${world.url}/apps/${app.slug}`,
    created_at: BORN,
    updated_at: BORN,
    permissions: own ? { ...world.app.permissions } : { checks: "write", metadata: "read" },
    events: own ? [...world.app.events] : [],
  };
}

export function installation(world: World, one: Installation): Shape<"installation"> {
  return {
    id: one.id,
    account: user(world, one.account),
    repository_selection: "selected",
    access_tokens_url: `${world.url}/app/installations/${one.id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/organizations/${one.account.login}/settings/installations/${one.id}`,
    app_id: world.app.appId,
    app_slug: world.app.slug,
    target_id: one.account.id,
    target_type: one.account.type === "Organization" ? "Organization" : "User",
    permissions: { ...one.permissions },
    events: [...world.app.events],
    created_at: instant(one.createdAt),
    updated_at: instant(one.suspendedAt ?? one.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: one.suspendedAt === null ? null : user(world, one.account),
    suspended_at: instantOr(one.suspendedAt),
  };
}
