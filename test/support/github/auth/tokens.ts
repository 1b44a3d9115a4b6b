/** Installation tokens: about 520 characters with dots, for one hour, of some repositories and permissions. */
import { randomBytes } from "node:crypto";
import { Refusal, unprocessable } from "../http/call.ts";
import type { Installation, Level, Permissions, Token, World } from "../world.ts";

const LIFETIME_MS = 3_600_000;
/** Three parts as of a signed statement; 521 characters in all. */
const PARTS_BYTES = [60, 231, 96] as const;

const RANK: Readonly<Record<Level, number>> = { read: 1, write: 2, admin: 3 };

export const allows = (permissions: Permissions, permission: string, level: Level): boolean => {
  const held = permissions[permission];
  return held !== undefined && RANK[held] >= RANK[level];
};

export function mintToken(
  world: World,
  installation: Installation,
  wanted: Readonly<Record<string, unknown>>,
): { readonly text: string; readonly token: Token } {
  if (installation.suspendedAt !== null) throw new Refusal(403, "This installation has been suspended");
  const token: Token = {
    installation,
    expiresAt: world.now() + LIFETIME_MS,
    permissions: narrowed(installation.permissions, wanted["permissions"]),
    repositories: chosen(world, installation, wanted),
  };
  const text = `ghs_${PARTS_BYTES.map((bytes) => randomBytes(bytes).toString("base64url")).join(".")}`;
  world.tokens.set(text, token);
  return { text, token };
}

function narrowed(held: Permissions, wanted: unknown): Permissions {
  if (typeof wanted !== "object" || wanted === null) return held;
  const asked = Object.fromEntries(Object.entries(wanted)) as Permissions;
  const beyond = Object.entries(asked).find(([name, level]) => !allows(held, name, level));
  if (beyond !== undefined) throw unprocessable("The permissions requested are not granted to this installation.");
  return { metadata: "read", ...asked };
}

function chosen(
  world: World,
  installation: Installation,
  wanted: Readonly<Record<string, unknown>>,
): ReadonlySet<number> | null {
  const { repositories: names, repository_ids: ids } = wanted;
  if (!Array.isArray(names) && !Array.isArray(ids)) return null;
  const asked = world.repositories.filter(
    (repo) =>
      installation.repositories.has(repo.id) &&
      ((Array.isArray(names) && names.includes(repo.name)) || (Array.isArray(ids) && ids.includes(repo.id))),
  );
  const count = (Array.isArray(names) ? names.length : 0) + (Array.isArray(ids) ? ids.length : 0);
  if (asked.length < count)
    throw unprocessable(
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    );
  return new Set(asked.map((repo) => repo.id));
}

export function tokenOf(world: World, text: string): Token {
  const token = world.tokens.get(text);
  if (token === undefined || token.expiresAt <= world.now() || !world.installations.includes(token.installation))
    throw new Refusal(401, "Bad credentials");
  if (token.installation.suspendedAt !== null) throw new Refusal(403, "This installation has been suspended");
  return token;
}

export const mayReach = (token: Token, repositoryId: number): boolean =>
  token.installation.repositories.has(repositoryId) && (token.repositories?.has(repositoryId) ?? true);

/** Reading what is not there and what one may not see are told alike. */
export function requirePermission(token: Token, permission: string, level: Level): void {
  const held = { metadata: "read" as const, ...token.installation.permissions };
  const both = allows(held, permission, level) && allows({ metadata: "read", ...token.permissions }, permission, level);
  if (!both)
    throw new Refusal(
      403,
      "Resource not accessible by integration",
      {},
      {
        "x-accepted-github-permissions": `${permission}=${level}`,
      },
    );
}
