import type { OrgSlug } from "../kernel/ids.ts";
import { fail, ok, type Result } from "../kernel/result.ts";

type Asked = { readonly org_url_slug: string; readonly page_query: { readonly page_token: string } };
type Page = {
  total_rows: number;
  next_page_token: string;
  prev_page_token: string;
  last_page_token: string;
  page_index: number;
};
type Answered = Result<{ tests: never[]; page: Page }, "ORGANIZATION_NOT_FOUND" | "INVALID_REQUEST">;

/** The answer while no results have come in: every check of a list of tests, then its only page, which is empty. */
export async function noTests(asked: Asked, { org }: { readonly org: OrgSlug }): Promise<Answered> {
  if (asked.org_url_slug !== org)
    return fail("ORGANIZATION_NOT_FOUND", `This token belongs to no organization "${asked.org_url_slug}".`);
  // No page token has ever been given out, so that any is another's or damaged.
  if (asked.page_query.page_token !== "") {
    const issues = [{ path: "page_query.page_token", message: "is damaged, or of another query" }];
    return fail("INVALID_REQUEST", "The page token cannot be used; ask for the first page anew.", { issues });
  }
  const tokens = { next_page_token: "", prev_page_token: "", last_page_token: "" };
  return ok({ tests: [], page: { total_rows: 0, ...tokens, page_index: 0 } });
}
