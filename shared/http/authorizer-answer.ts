/** The authorizer's answer as `endpoint()` reads it: the one home of the context's field names. */
import * as z from "zod";
import type { OrgSlug } from "../kernel/ids.ts";
import { orgSlug } from "../kernel/ids.ts";
import { type EpochMs, epochMs } from "../kernel/time.ts";

const SCOPES = ["read", "submit", "admin"] as const;
const isScope = (text: string): text is (typeof SCOPES)[number] => SCOPES.some((scope) => scope === text);

/** Whoever holds a good token, or is a fork's workflow that was let in without one. */
export type Principal = {
  readonly org: OrgSlug;
  readonly tokenId: string;
  readonly tokenName: string;
  readonly scopes: readonly (typeof SCOPES)[number][];
  readonly enumCase: "upper" | "lower";
  readonly expiresAt?: EpochMs;
  /** The run of a workflow that brought no token. No authorizer says it. */
  readonly forkRun?: number;
};

const context = z.object({
  org: z.string().regex(/^[a-z0-9][a-z0-9-]{0,38}$/u),
  tokenId: z.string().min(1),
  tokenName: z.string(),
  // An API Gateway context holds flat values only.
  scopes: z.string(),
  enumCase: z.enum(["upper", "lower"]),
  // Some gateways turn every context value into text.
  expiresAt: z.coerce.number().int().positive().optional(),
});

export const toAuthorizerContext = (principal: Principal) => ({
  org: principal.org,
  tokenId: principal.tokenId,
  tokenName: principal.tokenName,
  scopes: principal.scopes.join(","),
  enumCase: principal.enumCase,
  ...(principal.expiresAt === undefined ? {} : { expiresAt: principal.expiresAt }),
});

/** Undefined for everything that is not exactly a principal: no guess is made, and no use case runs. */
export function fromAuthorizerContext(value: unknown): Principal | undefined {
  const read = context.safeParse(value);
  if (!read.success) return undefined;
  const { org, scopes, expiresAt, ...rest } = read.data;
  return {
    ...rest,
    org: orgSlug(org),
    scopes: scopes.split(",").filter(isScope),
    ...(expiresAt === undefined ? {} : { expiresAt: epochMs(expiresAt) }),
  };
}
