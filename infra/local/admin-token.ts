import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SCOPES } from "../../shared/auth/scopes.ts";
import { type ApiToken, hashToken, mintToken, parseToken } from "../../shared/auth/token-format.ts";
import { orgSlug } from "../../shared/kernel/ids.ts";
import type { EpochMs } from "../../shared/kernel/time.ts";
import type { Table } from "../../shared/table/client.ts";
import { findOrganization } from "../../shared/table/organizations.ts";
import { type TokenStore, tokenStore } from "../../shared/table/tokens.ts";
import { writeFileAtomically } from "./files.ts";

/** The organization of one machine. */
export const LOCAL_ORG = orgSlug("local");

const tokenPath = (data: string): string => join(data, "admin-token");

function kept(data: string): ApiToken | undefined {
  try {
    return parseToken(readFileSync(tokenPath(data), "utf8").trim());
  } catch {
    return undefined;
  }
}

const add = (store: TokenStore, token: ApiToken, now: EpochMs): Promise<void> =>
  store.add({
    org: LOCAL_ORG,
    tokenId: randomUUID(),
    hash: hashToken(token),
    name: "admin",
    scopes: [...SCOPES],
    enumCase: "upper",
    createdAt: now,
    expiresAt: null,
  });

/**
 * The first start's admin token, or undefined when there was one before. The file comes first: a crash between file
 * and table is mended by the next start, while a token that only the table knew would be lost. Somebody who deleted
 * the file, or revoked the token, gets no new one.
 */
export async function ensureAdminToken(data: string, table: Table, now: EpochMs): Promise<ApiToken | undefined> {
  const store = tokenStore(table);
  const before = kept(data);
  if (before !== undefined) {
    if ((await store.findByHash(hashToken(before))) === undefined) await add(store, before, now);
    return undefined;
  }
  if ((await findOrganization(table, LOCAL_ORG)) !== undefined) return undefined;
  const token = mintToken(randomBytes);
  writeFileAtomically(tokenPath(data), `${token}\n`);
  await add(store, token, now);
  return token;
}
