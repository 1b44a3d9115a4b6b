/** `<data>/github-app.json`: the GitHub App of this machine's service. `npm run github-app -- setup` writes it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { CannotStart } from "./cannot-start.ts";
import { readJsonFile, writeFileAtomically } from "./files.ts";

export const gitHubApp = z.object({
  /** The name under which its repositories are known. */
  host: z.string().min(1).toLowerCase().default("github.com"),
  /** Another for GitHub Enterprise Server: `https://<server>/api/v3`. */
  api: z.url({ protocol: /^https?$/u }).default("https://api.github.com"),
  /** Where its pages are. */
  web: z.url({ protocol: /^https?$/u }).default("https://github.com"),
  appId: z.int().positive(),
  slug: z.string().min(1),
  privateKey: z.string().regex(/-----BEGIN [A-Z ]*PRIVATE KEY-----/u, { error: "must be a PEM" }),
  webhookSecret: z.string().min(1),
});
export type LocalGitHubApp = z.infer<typeof gitHubApp>;

export const gitHubAppPath = (data: string): string => join(data, "github-app.json");

/** Undefined where no App was set up. */
export function readGitHubApp(data: string): LocalGitHubApp | undefined {
  const path = gitHubAppPath(data);
  if (!existsSync(path)) return undefined;
  const app = readJsonFile(path, gitHubApp);
  if (app === undefined)
    throw new CannotStart(`${path} holds no GitHub App: remove it, and run npm run github-app -- setup.`);
  return app;
}

export const writeGitHubApp = (data: string, app: LocalGitHubApp): void =>
  writeFileAtomically(gitHubAppPath(data), `${JSON.stringify(app, null, 2)}\n`);
