/** Checks the signed statement with which an App says who it is. RS256, at most ten minutes. */
import { verify } from "node:crypto";
import { Refusal } from "../http/call.ts";
import type { App } from "../world.ts";

const LONGEST_S = 600;
/** GitHub allows for clocks that differ a little. */
const DRIFT_S = 60;

const part = (encoded: string | undefined): Readonly<Record<string, unknown>> => {
  const read: unknown = JSON.parse(Buffer.from(encoded ?? "", "base64url").toString());
  return typeof read === "object" && read !== null ? Object.fromEntries(Object.entries(read)) : {};
};

const undecodable = (): Refusal => new Refusal(401, "A JSON web token could not be decoded");

/** Throws as GitHub refuses. */
export function checkAppToken(app: App, token: string, nowMs: number): void {
  const [head, claims, signature = "", ...rest] = token.split(".");
  if (rest.length > 0) throw undecodable();
  const { alg, iss, iat, exp } = claimsOf(head, claims);
  const signed = Buffer.from(`${head}.${claims}`);
  if (alg !== "RS256" || !verify("RSA-SHA256", signed, app.publicKey, Buffer.from(signature, "base64url")))
    throw undecodable();
  if (String(iss) !== `${app.appId}`) throw new Refusal(404, "Integration not found");
  const now = nowMs / 1000;
  if (typeof iat !== "number" || iat > now + DRIFT_S)
    throw new Refusal(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== "number" || exp <= now)
    throw new Refusal(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > now + LONGEST_S + DRIFT_S)
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
}

function claimsOf(
  head: string | undefined,
  claims: string | undefined,
): Readonly<Record<"alg" | "iss" | "iat" | "exp", unknown>> {
  try {
    const { alg } = part(head) as { alg?: unknown };
    const { iss, iat, exp } = part(claims) as { iss?: unknown; iat?: unknown; exp?: unknown };
    return { alg, iss, iat, exp };
  } catch {
    throw undecodable();
  }
}
