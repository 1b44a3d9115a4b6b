/** `npm run github-app`: makes the GitHub App of this machine's service, and links its installations. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { silentLog } from "../../shared/kernel/log.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { accountOfInstallation, appOfManifest } from "../../shared/code-host/github/app.ts";
import { installationStore } from "../../shared/table/installations.ts";
import { CannotStart, oneLine } from "../local/cannot-start.ts";
import { openToolTable } from "../local/data-table.ts";
import { gitHubAppPath, readGitHubApp, writeGitHubApp } from "../local/github-app.ts";
import { type Of, parseGitHubAppCommand, USAGE } from "./github-app-arguments.ts";
import { manifestOf, manifestPage } from "./github-manifest.ts";
import { type Page, servePage } from "./github-page.ts";
import { isStateOf, newState } from "./github-state.ts";
import { say } from "./terminal.ts";
import { UsageError } from "./token-arguments.ts";

const NOWHERE: Page = { status: 404, html: "There is nothing here." };
const FOREIGN: Page = { status: 400, html: "This did not begin here, or too long ago. Run the command again." };
const DONE: Page = { status: 200, html: "Done. The terminal says what comes next." };

const apiOf = (web: string): string => (web === "https://github.com" ? "https://api.github.com" : `${web}/api/v3`);

async function setup({ data, port, web, owner, url, name }: Of<"setup">): Promise<void> {
  const path = gitHubAppPath(data);
  if (existsSync(path)) throw new CannotStart(`There is an App already: ${path}. Move that file away for another.`);
  const page = `http://127.0.0.1:${port}`;
  const state = randomBytes(24).toString("base64url");
  const under = owner === undefined ? "" : `/organizations/${owner}`;
  const action = `${web}${under}/settings/apps/new?state=${state}`;
  const form = manifestPage(action, manifestOf({ name, url, page }));
  const code = await servePage<string>(
    port,
    async ({ pathname, searchParams }) => {
      if (pathname === "/") return { page: { status: 200, html: form } };
      if (pathname !== "/created") return { page: NOWHERE };
      const given = searchParams.get("code");
      if (given === null || searchParams.get("state") !== state) return { page: FOREIGN };
      return { page: DONE, done: given };
    },
    () => say(`Open ${page} in a browser that is signed in to ${web}.`),
  );
  const made = await appOfManifest(apiOf(web), code);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const webhookSecret = made.webhookSecret ?? randomBytes(32).toString("base64url");
  writeGitHubApp(data, { ...made, webhookSecret, host: new URL(web).host, web, api: apiOf(web) });
  say(`Made the GitHub App ${made.slug}; its secrets are in ${path}. Next: npm run github-app -- link --org <slug>`);
}

async function link({ data, port, org }: Of<"link">): Promise<void> {
  const app = readGitHubApp(data);
  if (app === undefined) throw new CannotStart(`There is no App in ${data}: npm run github-app -- setup comes first.`);
  const state = newState(org, app.webhookSecret, systemClock());
  const id = await servePage<number>(
    port,
    async ({ pathname, searchParams }) => {
      if (pathname !== "/installed") return { page: NOWHERE };
      const given = Number(searchParams.get("installation_id"));
      const isOurs = isStateOf(searchParams.get("state") ?? "", org, app.webhookSecret, systemClock());
      return isOurs && Number.isSafeInteger(given) && given > 0 ? { page: DONE, done: given } : { page: FOREIGN };
    },
    () => say(`Install the App, in a browser: ${app.web}/apps/${app.slug}/installations/new?state=${state}`),
  );
  const account = await accountOfInstallation(app, id);
  const { table, close } = await openToolTable({ data, log: { ...silentLog, warn: say } });
  try {
    const linked = await installationStore(table).link({ org, host: app.host, id, account }, systemClock());
    if (linked === "OTHERS")
      throw new CannotStart(
        `The installation on ${account} is linked already: to another organization, or by another id.`,
      );
    say(`${account} at ${app.host} is linked to organization ${org}. Restart a service that runs without the App.`);
  } finally {
    await close();
  }
}

try {
  const args = process.argv.slice(2);
  if (args.length === 0 || args.includes("--help")) throw new UsageError("say what to do");
  const command = parseGitHubAppCommand(args);
  await (command.command === "setup" ? setup(command) : link(command));
} catch (error) {
  say(error instanceof UsageError ? `${error.message}\n${USAGE}` : oneLine(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
