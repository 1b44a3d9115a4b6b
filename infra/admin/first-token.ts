import { randomBytes, randomUUID } from "node:crypto";
import { SCOPES } from "../../shared/auth/scopes.ts";
import { type ApiToken, hashToken, mintToken } from "../../shared/auth/token-format.ts";
import type { OrgSlug } from "../../shared/kernel/ids.ts";
import type { EpochMs } from "../../shared/kernel/time.ts";
import type { Table } from "../../shared/table/client.ts";
import { findOrganization } from "../../shared/table/organizations.ts";
import { type TokenStore, tokenStore } from "../../shared/table/tokens.ts";

/** The organization and its admin token, unless it is there. Whoever has lost the token makes another by npm run token. */
export async function firstToken(table: Table, org: OrgSlug, now: EpochMs): Promise<ApiToken | undefined> {
  if ((await findOrganization(table, org)) !== undefined) return undefined;
  const token = mintToken(randomBytes);
  await addAdminToken(tokenStore(table), org, token, now);
  return token;
}

/** With every scope, for ever. */
export const addAdminToken = (store: TokenStore, org: OrgSlug, token: ApiToken, now: EpochMs): Promise<void> =>
  store.add({
    org,
    tokenId: randomUUID(),
    hash: hashToken(token),
    name: "admin",
    scopes: [...SCOPES],
    enumCase: "upper",
    createdAt: now,
    expiresAt: null,
  });
