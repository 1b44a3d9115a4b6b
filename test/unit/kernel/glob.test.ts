import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globOf, partsOf } from "../../../shared/kernel/glob.ts";

const matches = (pattern: string, text: string): boolean => globOf(pattern)(partsOf(text));

describe("a glob", () => {
  test.each([
    ["web/**", "web/a.ts"],
    ["web/**", "web/a/b/.c/d"],
    ["web/**", "web"],
    ["**", "anything/at/all"],
    ["**", ""],
    ["**/*.md", "README.md"],
    ["**/*.md", "docs/a/b.md"],
    ["*.md", "README.md"],
    ["docs/*.md", "docs/.hidden.md"],
    ["a/**/b/**/c", "a/b/c"],
    ["a/**/b/**/c", "a/b/b/x/c/b/c"],
    ["a/**/**/c", "a/c"],
    ["*", "web"],
    ["**a", "bca"],
    ["a*b*c", "a--b--b--c"],
    ["?.ts", "é.ts"],
    ["?.ts", "😀.ts"],
    ["??", "😀x"],
    ["app/[id]/{a,b}.tsx", "app/[id]/{a,b}.tsx"],
    ["//services/**", "//services/team/module:library"],
    ["//*/a:*", "//x/a:lib"],
    ["__proto__/**", "__proto__/constructor"],
  ])("%s matches %j", (pattern, text) => {
    expect(matches(pattern, text)).toBe(true);
  });

  test.each([
    ["web/**", "website/a.ts"],
    ["web/**", "Web/a.ts"],
    ["web/*", "web/a/b"],
    ["web/*", "web"],
    ["*", "a/b"],
    ["*.md", "docs/README.md"],
    ["**/b/c", "a/b/c/d"],
    ["a/**/b", "a/c"],
    ["**a", "b/a"],
    ["?.ts", ".ts"],
    ["[ab].ts", "a.ts"],
    ["a.ts", "axts"],
    ["{a,b}", "a"],
    ["/web/**", "web/a"],
    ["", "a"],
  ])("%s does not match %j", (pattern, text) => {
    expect(matches(pattern, text)).toBe(false);
  });

  test("says the same as a regular expression of the same meaning", () => {
    const letters = fc.stringMatching(/^[ab/]{0,10}$/u);
    const pattern = fc.stringMatching(/^[ab/*?]{0,8}$/u);
    fc.assert(
      fc.property(pattern, letters, (wanted, text) => {
        expect(matches(wanted, text)).toBe(expressionOf(wanted).test(`/${text}`));
      }),
      { numRuns: 20_000 },
    );
  });

  test("costs no more than its length times the text's, whatever both hold", () => {
    // What looks at the text once for each of its own letters would not end.
    expect(matches(`${"*-".repeat(50)}x`, "-".repeat(400_000))).toBe(false);
    expect(matches(`${"**/a/".repeat(50)}b`, "a/".repeat(200_000))).toBe(false);
    expect(matches(`**/${"*a".repeat(40)}`, `${"a".repeat(20_000)}b/`.repeat(20))).toBe(false);
  });
});

/** Of a text that a slash was put in front of, so that every part begins with one. */
function expressionOf(pattern: string): RegExp {
  const within = (part: string): string => part.replaceAll("?", "[^/]").replaceAll(/\*+/gu, "[^/]*");
  const parts = partsOf(pattern).map((part) => (part === "**" ? "(?:/[^/]*)*" : `/${within(part)}`));
  return new RegExp(`^${parts.join("")}$`, "u");
}
