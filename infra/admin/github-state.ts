/**
 * What is sent along to GitHub and comes back with the browser: for which organization it was, until when, and a
 * signature, so that a redirect that nobody here began binds nothing.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { OrgSlug } from "../../shared/kernel/ids.ts";
import { type EpochMs, later, MINUTE_MS } from "../../shared/kernel/time.ts";

const GOOD_MS = 15 * MINUTE_MS;

const signatureOf = (text: string, secret: string): string =>
  createHmac("sha256", `installation-state ${secret}`).update(text).digest("base64url");

export function newState(org: OrgSlug, secret: string, now: EpochMs): string {
  const text = `${org}.${later(now, GOOD_MS)}.${randomBytes(12).toString("base64url")}`;
  return `${text}.${signatureOf(text, secret)}`;
}

export function isStateOf(state: string, org: OrgSlug, secret: string, now: EpochMs): boolean {
  const [of, until, nonce, signature, ...more] = state.split(".");
  if (of !== org || until === undefined || signature === undefined || more.length > 0) return false;
  const expected = Buffer.from(signatureOf(`${of}.${until}.${nonce}`, secret));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected) && Number(until) > now;
}
