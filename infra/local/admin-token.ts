import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ApiToken, hashToken, mintToken, parseToken } from "../../shared/auth/token-format.ts";
import { orgSlug } from "../../shared/kernel/ids.ts";
import type { EpochMs } from "../../shared/kernel/time.ts";
import type { Table } from "../../shared/table/client.ts";
import { findOrganization } from "../../shared/table/organizations.ts";
import { tokenStore } from "../../shared/table/tokens.ts";
import { addAdminToken } from "../admin/first-token.ts";
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

/**
 * The first start's admin token, or undefined when there was one before. The file comes first: a crash between file
 * and table is mended by the next start, while a token that only the table knew would be lost. Somebody who deleted
 * the file, or revoked the token, gets no new one.
 */
export async function ensureAdminToken(data: string, table: Table, now: EpochMs): Promise<ApiToken | undefined> {
  const store = tokenStore(table);
  const before = kept(data);
  if (before !== undefined) {
    if ((await store.findByHash(hashToken(before))) === undefined) await addAdminToken(store, LOCAL_ORG, before, now);
    return undefined;
  }
  if ((await findOrganization(table, LOCAL_ORG)) !== undefined) return undefined;
  const token = mintToken(randomBytes);
  writeFileAtomically(tokenPath(data), `${token}\n`);
  await addAdminToken(store, LOCAL_ORG, token, now);
  return token;
}
