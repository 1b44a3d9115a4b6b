/** Tokens, and who holds them. */
import { hashToken, mintToken } from "../../../shared/auth/token-format.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { tokenStore } from "../../../shared/table/tokens.ts";
import { ORG, type World } from "../world.ts";
import { Caller } from "./caller.ts";

type Scopes = Parameters<ReturnType<typeof tokenStore>["add"]>[0]["scopes"];

export const ALL_SCOPES: Scopes = ["read", "submit", "admin"];

export async function aCaller(world: World, name: string, scopes: Scopes, org: string = ORG): Promise<Caller> {
  const random = world.random(`caller ${name}`);
  const token = mintToken((length) => Uint8Array.from({ length }, () => random.int(0, 255)));
  const added = { org: orgSlug(org), tokenId: name, hash: hashToken(token), name, scopes, enumCase: "upper" } as const;
  const createdAt = world.scheduler.now();
  await world.scheduler.really(() => tokenStore(world.table).add({ ...added, createdAt, expiresAt: null }));
  return new Caller({ ...world, random, token });
}

/** Somebody whose token nobody gave out. */
export const nobody = (world: World): Caller =>
  new Caller({ ...world, random: world.random("nobody"), token: "mlq_wrong" });
