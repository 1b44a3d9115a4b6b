/** What `npm run token` does, over a token store. `say` goes to stderr, `print` to stdout. */
import { randomBytes, randomUUID } from "node:crypto";
import { hashToken, mintToken } from "../../shared/auth/token-format.ts";
import type { OrgSlug } from "../../shared/kernel/ids.ts";
import { type EpochMs, toRfc3339 } from "../../shared/kernel/time.ts";
import { isLive, type NewToken, type TokenRecord, type TokenStore } from "../../shared/table/tokens.ts";
import { CannotStart } from "../local/cannot-start.ts";
import type { TokenCommand, Which } from "./token-arguments.ts";

export type Output = { readonly say: (line: string) => void; readonly print: (line: string) => void };
type Of<Name extends TokenCommand["command"]> = Extract<TokenCommand, { command: Name }>;
type Context = { readonly store: TokenStore; readonly now: EpochMs; readonly output: Output };

export function runTokenCommand(command: TokenCommand, context: Context): Promise<void> {
  switch (command.command) {
    case "create":
      return create(command, context);
    case "list":
      return list(command, context);
    case "revoke":
      return revoke(command, context);
    case "rotate":
      return rotate(command, context);
  }
}

type Secret = { readonly text: string; readonly tokenId: string; readonly hash: string };

function newSecret(): Secret {
  const token = mintToken(randomBytes);
  return { text: token, tokenId: randomUUID(), hash: hashToken(token) };
}

const ending = (at: EpochMs | null): string => (at === null ? "never expires" : `expires ${toRfc3339(at)}`);

async function create(given: Of<"create">, { store, now, output }: Context): Promise<void> {
  const { text, ...secret } = newSecret();
  const token: NewToken = {
    ...secret,
    org: given.org,
    name: given.name ?? `token-${secret.tokenId.slice(0, 8)}`,
    scopes: given.scopes,
    enumCase: given["enum-case"],
    createdAt: now,
    expiresAt: given.expires ?? null,
  };
  await store.add(token);
  output.say(
    `Made token "${token.name}" (${token.tokenId}) of organization ${token.org}: scopes ${token.scopes.join(",")}, ${ending(token.expiresAt)}. It is shown this once:`,
  );
  output.print(text);
}

const stateOf = (token: TokenRecord, now: EpochMs): string => {
  if (token.revokedAt !== null) return `revoked ${toRfc3339(token.revokedAt)}`;
  return isLive(token, now) ? ending(token.expiresAt) : `expired ${toRfc3339(token.expiresAt ?? now)}`;
};

async function list({ org }: Of<"list">, { store, now, output }: Context): Promise<void> {
  const tokens = await store.list(org);
  if (tokens.length === 0) output.say(`Organization ${org} has no tokens.`);
  for (const token of tokens)
    output.print(
      [
        token.tokenId,
        token.name,
        token.scopes.join(","),
        `enum-case ${token.enumCase}`,
        `made ${toRfc3339(token.createdAt)}`,
        stateOf(token, now),
      ].join("\t"),
    );
}

const called = ({ name, id }: Which): string => (id === undefined ? `named "${name ?? ""}"` : `with id ${id}`);

/** One that is not revoked. A name may have been used again after its token was revoked. */
async function pick(org: OrgSlug, which: Which, store: TokenStore): Promise<TokenRecord> {
  const matching = (await store.list(org)).filter((token) =>
    which.id === undefined ? token.name === which.name : token.tokenId === which.id,
  );
  const [found, ...others] = matching.filter((token) => token.revokedAt === null);
  if (found === undefined)
    throw new CannotStart(
      matching.length === 0
        ? `Organization ${org} has no token ${called(which)}.`
        : `The token ${called(which)} is revoked already.`,
    );
  if (others.length > 0)
    throw new CannotStart(
      `Several tokens are ${called(which)}; choose by --id: ${[found, ...others].map((token) => token.tokenId).join(", ")}`,
    );
  return found;
}

const CACHE_NOTE = "A server may accept it for up to a minute more";
const gone = (token: TokenRecord): CannotStart =>
  new CannotStart(`The token "${token.name}" (${token.tokenId}) was revoked by somebody else just now.`);

async function revoke({ org, name, id }: Of<"revoke">, { store, now, output }: Context): Promise<void> {
  const token = await pick(org, { name, id }, store);
  if ((await store.revoke(org, token.tokenId, now)) === "GONE") throw gone(token);
  output.say(`Revoked token "${token.name}" (${token.tokenId}) of organization ${org}. ${CACHE_NOTE}.`);
}

async function rotate(given: Of<"rotate">, { store, now, output }: Context): Promise<void> {
  const old = await pick(given.org, given, store);
  const expiresAt = given.expires ?? old.expiresAt;
  if (expiresAt !== null && expiresAt <= now)
    throw new CannotStart(`The token "${old.name}" has expired: say --expires for the new one.`);
  const { text, ...secret } = newSecret();
  const { revokedAt: _revokedAt, ...kept } = old;
  const outcome = await store.replace(given.org, old.tokenId, { ...kept, ...secret, createdAt: now, expiresAt });
  if (outcome === "GONE") throw gone(old);
  output.say(
    `Token "${old.name}" of organization ${given.org} has a new secret (${secret.tokenId}, ${ending(expiresAt)}); the old one (${old.tokenId}) is revoked. ${CACHE_NOTE}. The new one is shown this once:`,
  );
  output.print(text);
}
