import { parseArgs } from "node:util";
import * as z from "zod";
import { oneLine } from "../local/cannot-start.ts";

export const USAGE = `usage: npm run smoke -- --url <address>/v1 --token <token> [--read-token <token>] [--org <slug>]

The token needs the scopes read,submit,admin; --read-token is one of the scope read alone, for the answer to a scope that
is missing. --org is the token's organization: main, unless the address is this machine, where it is local.`;

export class UsageError extends Error {
  override readonly name = "UsageError";
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

const address = z
  .string({ error: "is required" })
  .transform((text) => text.replace(/\/+$/u, ""))
  .refine((text) => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol), {
    error: "must be an address, like https://abc.execute-api.eu-central-1.amazonaws.com/v1",
  })
  .refine((text) => text.endsWith("/v1"), { error: "must end in /v1" });
const token = z.string({ error: "is required" }).min(1);

const given = z.strictObject({
  url: address,
  token,
  "read-token": token.optional(),
  org: z.string().min(1).optional(),
});

export type SmokeArguments = {
  readonly url: string;
  readonly token: string;
  readonly readToken: string | undefined;
  readonly org: string;
  /** The service itself answers on this machine; anywhere else a gateway stands before it. */
  readonly where: "local" | "gateway";
};

const text = { type: "string" } as const;
const OPTIONS = { url: text, token: text, "read-token": text, org: text } as const;

function split(args: readonly string[]): Record<string, unknown> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(oneLine(error).split(". ")[0]);
  }
}

export function parseSmokeArguments(args: readonly string[]): SmokeArguments {
  const read = given.safeParse(split(args));
  if (!read.success)
    throw new UsageError(read.error.issues.map(({ path, message }) => `--${path.join(".")} ${message}`).join("; "));
  const { url, token: admin, "read-token": readToken, org } = read.data;
  const where = LOOPBACK.has(new URL(url).hostname) ? "local" : "gateway";
  return { url, token: admin, readToken, org: org ?? (where === "local" ? "local" : "main"), where };
}
