import { readFileSync } from "node:fs";
import * as z from "zod";
import { oneLine } from "../local/cannot-start.ts";

export const USAGE = `usage: npm run smoke:github

Tries everything that a queue does on GitHub, on a real repository that is set aside for it. What it needs is in the
environment; without any of it, it says so in one line and is content.

  MAINLINE_GITHUB_APP_ID            the App's number
  MAINLINE_GITHUB_PRIVATE_KEY       its key, as GitHub hands it out; or a file with it:
  MAINLINE_GITHUB_PRIVATE_KEY_FILE
  MAINLINE_GITHUB_REPOSITORY        owner/name, where the App is installed and GitHub Actions may run
  MAINLINE_GITHUB_API               https://api.github.com unless it is a GitHub Enterprise Server: https://<server>/api/v3
  MAINLINE_GITHUB_HOST              github.com, or the server's name
  MAINLINE_GITHUB_WAIT_MINUTES      how long a workflow may take to report: 10

  MAINLINE_URL, MAINLINE_TOKEN      a service to send one pull request through as well: its address with /v1, and a token
                                    with the scopes read,submit,admin of the organization that the App is linked to

It makes two branches mainline-smoke-… with a workflow of one job, pull requests between them, and a queue for one of
them, and removes all of that; what stays are closed pull requests. No other branch is touched.`;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

const address = z
  .url({ protocol: /^https?$/u, error: "must be an address" })
  .transform((url) => url.replace(/\/+$/u, ""));
const text = z.string({ error: "is missing" }).min(1, { error: "is empty" });

const given = z
  .object({
    MAINLINE_GITHUB_APP_ID: z.coerce.number({ error: "must be a number" }).int().positive(),
    MAINLINE_GITHUB_PRIVATE_KEY: text.regex(/-----BEGIN [A-Z ]*PRIVATE KEY-----/u, { error: "must be a PEM" }),
    MAINLINE_GITHUB_REPOSITORY: text.regex(/^[\w-]+\/[\w.-]+$/u, { error: "must be owner/name" }),
    MAINLINE_GITHUB_API: address.default("https://api.github.com"),
    MAINLINE_GITHUB_HOST: z.string().min(1).toLowerCase().default("github.com"),
    MAINLINE_GITHUB_WAIT_MINUTES: z.coerce.number({ error: "must be a number" }).positive().default(10),
    MAINLINE_URL: address.optional(),
    MAINLINE_TOKEN: text.optional(),
  })
  .refine((all) => (all.MAINLINE_URL === undefined) === (all.MAINLINE_TOKEN === undefined), {
    path: ["MAINLINE_URL"],
    error: "and MAINLINE_TOKEN go together",
  });

export type GitHubSmoke = {
  readonly app: { readonly appId: number; readonly privateKey: string; readonly api: string };
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  readonly waitMinutes: number;
  readonly service: { readonly url: string; readonly token: string } | undefined;
};

const NEEDED = [
  "MAINLINE_GITHUB_APP_ID",
  "MAINLINE_GITHUB_PRIVATE_KEY",
  "MAINLINE_GITHUB_PRIVATE_KEY_FILE",
  "MAINLINE_GITHUB_REPOSITORY",
];

/** Undefined where nobody has asked for it. What is wrong is told without what it holds. */
export function readGitHubSmoke(env: NodeJS.ProcessEnv): GitHubSmoke | undefined {
  const isSaid = (name: string): boolean => (env[name] ?? "") !== "";
  if (!NEEDED.some(isSaid)) return undefined;
  const said = Object.fromEntries(Object.entries(env).filter(([name]) => isSaid(name)));
  const read = given.safeParse({ ...said, ...keyOf(said["MAINLINE_GITHUB_PRIVATE_KEY_FILE"]) });
  if (!read.success)
    throw new UsageError(read.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; "));
  const all = read.data;
  const [owner = "", name = ""] = all.MAINLINE_GITHUB_REPOSITORY.split("/");
  const { MAINLINE_URL: url, MAINLINE_TOKEN: token } = all;
  return {
    app: {
      appId: all.MAINLINE_GITHUB_APP_ID,
      privateKey: all.MAINLINE_GITHUB_PRIVATE_KEY,
      api: all.MAINLINE_GITHUB_API,
    },
    host: all.MAINLINE_GITHUB_HOST,
    owner,
    name,
    waitMinutes: all.MAINLINE_GITHUB_WAIT_MINUTES,
    service: url === undefined || token === undefined ? undefined : { url, token },
  };
}

function keyOf(file: string | undefined): { readonly MAINLINE_GITHUB_PRIVATE_KEY?: string } {
  if (file === undefined) return {};
  try {
    return { MAINLINE_GITHUB_PRIVATE_KEY: readFileSync(file, "utf8") };
  } catch (error) {
    throw new UsageError(`MAINLINE_GITHUB_PRIVATE_KEY_FILE cannot be read: ${oneLine(error)}`);
  }
}
