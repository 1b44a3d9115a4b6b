/** `npm run github-app`: makes the GitHub App of a service, on this machine or on AWS, and links its installations. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { repoKey } from "../../shared/kernel/ids.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { accountOfInstallation, appOfManifest, slugOfApp } from "../../shared/code-host/github/app.ts";
import { type GitHubAppSecret, gitHubApp } from "../../shared/code-host/github/app-secret.ts";
import { githubRepositories } from "../../shared/table/github-repositories.ts";
import { installationStore } from "../../shared/table/installations.ts";
import { CannotStart, oneLine } from "../local/cannot-start.ts";
import { type GitHubAppCommand, type Of, parseGitHubAppCommand, USAGE } from "./github-app-arguments.ts";
import { type AppPlace, inFolder, onStage } from "./github-app-place.ts";
import { manifestOf, manifestPage } from "./github-manifest.ts";
import { type Page, servePage } from "./github-page.ts";
import { isStateOf, newState } from "./github-state.ts";
import { say } from "./terminal.ts";
import { UsageError } from "./token-arguments.ts";

const NOWHERE: Page = { status: 404, html: "There is nothing here." };
const FOREIGN: Page = { status: 400, html: "This did not begin here, or too long ago. Run the command again." };
const DONE: Page = { status: 200, html: "Done. The terminal says what comes next." };

const apiOf = (web: string): string => (web === "https://github.com" ? "https://api.github.com" : `${web}/api/v3`);

async function setup({ port, web, owner, name, ...given }: Of<"setup">, place: AppPlace): Promise<void> {
  if ((await place.read()) !== undefined)
    throw new CannotStart(
      `There is an App already: ${place.where}. For another move the file away, or put {} in the secret.`,
    );
  const url = given.url ?? place.url();
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
  const webhookSecret = made.webhookSecret ?? randomBytes(32).toString("base64url");
  await place.write({ ...made, webhookSecret, host: new URL(web).host, web, api: apiOf(web) });
  const next = `npm run github-app -- link --org <slug>${place.option}`;
  say(`Made the GitHub App ${made.slug}; its secrets are in ${place.where}. Next: ${next}`);
}

async function appIn(place: AppPlace): Promise<GitHubAppSecret> {
  const app = await place.read();
  if (app !== undefined) return app;
  throw new CannotStart(`There is no App in ${place.where}: npm run github-app -- setup${place.option} comes first.`);
}

async function link({ port, org }: Of<"link">, place: AppPlace): Promise<void> {
  const app = await appIn(place);
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
  const { table, close } = await place.openTable();
  try {
    const linked = await installationStore(table).link({ org, host: app.host, id, account }, systemClock());
    if (linked === "OTHERS")
      throw new CannotStart(
        `The installation on ${account} is linked already: to another organization, or by another id.`,
      );
    say(`${account} at ${app.host} is linked to organization ${org}. ${place.taken}`);
  } finally {
    await close();
  }
}

async function forget({ org, repo }: Of<"forget">, place: AppPlace): Promise<void> {
  const { host } = await appIn(place);
  const [owner = "", name = ""] = repo.split("/");
  const { table, close } = await place.openTable();
  try {
    if (!(await githubRepositories(table, org).forget(repoKey({ host, owner, name }))))
      throw new CannotStart(`Organization ${org} knows no repository ${repo} at ${host}.`);
    say(`Queues of ${repo} in organization ${org} are those of the repository that has the name now.`);
  } finally {
    await close();
  }
}

/** GitHub is asked as the new key before the old one is let go. */
async function rotate({ key }: Of<"rotate">, place: AppPlace): Promise<void> {
  const app = await appIn(place);
  const made = gitHubApp.safeParse({ ...app, privateKey: keyIn(key) });
  if (!made.success) throw new CannotStart(`${key} holds no private key: GitHub gives one as a .pem file.`);
  const slug = await slugOfApp(made.data);
  if (slug !== app.slug) throw new CannotStart(`GitHub does not take this key as one of the App ${app.slug}.`);
  await place.write(made.data);
  say(`${place.where} holds the new key of ${slug}. ${place.taken} Then delete the old one on the App's page.`);
}

function keyIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CannotStart(oneLine(error), { cause: error });
  }
}

function run(command: GitHubAppCommand, place: AppPlace): Promise<void> {
  switch (command.command) {
    case "setup":
      return setup(command, place);
    case "link":
      return link(command, place);
    case "forget":
      return forget(command, place);
    case "rotate":
      return rotate(command, place);
  }
}

try {
  const args = process.argv.slice(2);
  if (args.length === 0 || args.includes("--help")) throw new UsageError("say what to do");
  const command = parseGitHubAppCommand(args);
  await run(command, command.stage === undefined ? inFolder(command.data) : await onStage(command.stage));
} catch (error) {
  say(error instanceof UsageError ? `${error.message}\n${USAGE}` : oneLine(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
