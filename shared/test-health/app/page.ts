/**
 * Pages of a list that does not change while somebody walks through it: a token carries the moment of the first page,
 * and what came in later is invisible to it.
 */
import { createHash } from "node:crypto";
import { fail, ok, type Result } from "../../kernel/result.ts";
import { type EpochMs, epochMs } from "../../kernel/time.ts";

export type PageQuery = { readonly page_size: number; readonly page_token: string };

export type PageView = {
  total_rows: number;
  next_page_token: string;
  prev_page_token: string;
  last_page_token: string;
  page_index: number;
};

/** Which page of a list as of which moment. */
export type Place = { readonly index: number; readonly asOf: EpochMs };

const SUM_LENGTH = 12;
const sumOf = (query: string, text: string): string =>
  createHash("sha256")
    .update(JSON.stringify([query, text]))
    .digest("base64url")
    .slice(0, SUM_LENGTH);

function tokenOf(query: string, { index, asOf }: Place): string {
  const text = `${index.toString(36)}.${asOf.toString(36)}`;
  return `${text}.${sumOf(query, text)}`;
}

/** @param query all that makes the list what it is: a token of another one is refused */
export function placeOf(query: string, token: string, now: EpochMs): Result<Place, "INVALID_REQUEST"> {
  if (token === "") return ok({ index: 0, asOf: now });
  const [index = "", asOf = ""] = token.split(".");
  const place = { index: Number.parseInt(index, 36), asOf: epochMs(Number.parseInt(asOf, 36)) };
  if (token !== tokenOf(query, place)) {
    const issues = [{ path: "page_query.page_token", message: "is damaged, or of another query" }];
    return fail("INVALID_REQUEST", "The page token cannot be used; ask for the first page anew.", { issues });
  }
  return ok(place);
}

/** The rows of the page, and the tokens of those around it. */
export function pageOf<Row>(
  rows: readonly Row[],
  query: string,
  { index, asOf }: Place,
  size: number,
): { readonly rows: readonly Row[]; readonly page: PageView } {
  const last = Math.max(0, Math.ceil(rows.length / size) - 1);
  const token = (to: number): string =>
    to < 0 || to > last || to === index ? "" : tokenOf(query, { index: to, asOf });
  return {
    rows: rows.slice(index * size, (index + 1) * size),
    page: {
      total_rows: rows.length,
      next_page_token: token(index + 1),
      prev_page_token: token(index - 1),
      last_page_token: token(last),
      page_index: index,
    },
  };
}
