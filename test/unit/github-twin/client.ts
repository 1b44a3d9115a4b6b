/** A client that keeps whatever it is answered: no library between a test and the twin. Holds no assertions. */
import { createSign } from "node:crypto";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitHubTwin } from "../../support/github/twin.ts";
import { startGitHubTwin, type TwinOptions } from "../../support/github/twin.ts";

// Answers are looked into, and what they hold is told by the published shapes.
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;
export type Answered = { readonly status: number; readonly body: Body; readonly headers: Headers };
export type Client = {
  (method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  readonly token: string;
};

export const twin = (options: Partial<TwinOptions> = {}): Promise<GitHubTwin> =>
  startGitHubTwin({ folder: realpathSync(mkdtempSync(join(tmpdir(), "mainline-twin-"))), ...options });

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** An App's statement of who it is; `claims` replace the usual ones. */
export function jwt(app: GitHubTwin["app"], claims: object = {}, privateKey = app.privateKey): string {
  const now = Math.floor(Date.now() / 1000);
  const head = encoded({ alg: "RS256", typ: "JWT" });
  const body = `${head}.${encoded({ iat: now - 30, exp: now + 540, iss: app.appId, ...claims })}`;
  return `${body}.${createSign("RSA-SHA256").update(body).sign(privateKey, "base64url")}`;
}

export const asToken = (github: GitHubTwin, token: string): Client =>
  Object.assign(
    async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(path.startsWith("http") ? path : `${github.url}${path}`, {
        method,
        redirect: "manual",
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const bytes = await answer.text();
      const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true && bytes !== "";
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(bytes) : bytes };
    },
    { token },
  );

export const asApp = (github: GitHubTwin): Client => asToken(github, jwt(github.app));

export async function asInstallation(github: GitHubTwin, account = "acme", wanted: object = {}): Promise<Client> {
  const id = await github.installation(account);
  const made = await asApp(github)("POST", `/app/installations/${id}/access_tokens`, wanted);
  if (made.status !== 201) throw new Error(`no token: ${made.status} ${JSON.stringify(made.body)}`);
  return asToken(github, made.body.token);
}
