/** What an App does for itself: it is made of a manifest, and looks at where it is installed. */
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import * as z from "zod";
import type { GitHubApp } from "./client.ts";

const made = z.object({
  id: z.int(),
  slug: z.string(),
  pem: z.string(),
  webhook_secret: z.string().nullable(),
});

export type MadeApp = {
  readonly appId: number;
  readonly slug: string;
  readonly privateKey: string;
  /** Null where the manifest named no address for webhooks. */
  readonly webhookSecret: string | null;
};

/** The code that GitHub hands out when somebody confirms a manifest; good once, for an hour. */
export async function appOfManifest(api: string, code: string): Promise<MadeApp> {
  const { request } = new Octokit({ baseUrl: api });
  const { data } = await request("POST /app-manifests/{code}/conversions", { code });
  const { id, slug, pem, webhook_secret: webhookSecret } = made.parse(data);
  return { appId: id, slug, privateKey: pem, webhookSecret };
}

/** The login, in lower case, of the account that an installation is on. GitHub is asked: an address can say anything. */
export async function accountOfInstallation({ api, ...app }: GitHubApp, installation_id: number): Promise<string> {
  const { request } = new Octokit({ baseUrl: api });
  const { token } = await createAppAuth({ ...app, request })({ type: "app" });
  const headers = { authorization: `bearer ${token}` };
  const { data } = await request("GET /app/installations/{installation_id}", { installation_id, headers });
  const account = z.object({ login: z.string() }).parse(data.account);
  return account.login.toLowerCase();
}

/** The name of the App that a key is of; undefined where GitHub does not take it for a key of that App. */
export async function slugOfApp({ api, ...app }: GitHubApp): Promise<string | undefined> {
  const { request } = new Octokit({ baseUrl: api });
  try {
    const { token } = await createAppAuth({ ...app, request })({ type: "app" });
    const { data } = await request("GET /app", { headers: { authorization: `bearer ${token}` } });
    return data?.slug;
  } catch (error) {
    if (error instanceof Error && "status" in error && error.status === 401) return undefined;
    throw error;
  }
}

const installation = z.object({
  id: z.int(),
  permissions: z.record(z.string(), z.string()),
  suspended_at: z.string().nullable(),
});

export type InstalledOn = {
  readonly id: number;
  readonly permissions: Readonly<Record<string, string>>;
  readonly isSuspended: boolean;
};

/** The installation that reaches a repository; undefined where none does. */
export async function installationOnRepository(
  { api, ...app }: GitHubApp,
  owner: string,
  repo: string,
): Promise<InstalledOn | undefined> {
  const { request } = new Octokit({ baseUrl: api });
  try {
    const { token } = await createAppAuth({ ...app, request })({ type: "app" });
    const headers = { authorization: `bearer ${token}` };
    const { data } = await request("GET /repos/{owner}/{repo}/installation", { owner, repo, headers });
    const { id, permissions, suspended_at } = installation.parse(data);
    return { id, permissions, isSuspended: suspended_at !== null };
  } catch (error) {
    if (error instanceof Error && "status" in error && error.status === 404) return undefined;
    throw error;
  }
}
