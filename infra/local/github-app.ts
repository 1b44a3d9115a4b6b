/** `<data>/github-app.json`: the GitHub App of this machine's service. `npm run github-app -- setup` writes it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type GitHubAppSecret, gitHubApp } from "../../shared/code-host/github/app-secret.ts";
import { CannotStart } from "./cannot-start.ts";
import { readJsonFile, writeFileAtomically } from "./files.ts";

export const gitHubAppPath = (data: string): string => join(data, "github-app.json");

/** Undefined where no App was set up. */
export function readGitHubApp(data: string): GitHubAppSecret | undefined {
  const path = gitHubAppPath(data);
  if (!existsSync(path)) return undefined;
  const app = readJsonFile(path, gitHubApp);
  if (app === undefined)
    throw new CannotStart(`${path} holds no GitHub App: remove it, and run npm run github-app -- setup.`);
  return app;
}

export const writeGitHubApp = (data: string, app: GitHubAppSecret): void =>
  writeFileAtomically(gitHubAppPath(data), `${JSON.stringify(app, null, 2)}\n`);
