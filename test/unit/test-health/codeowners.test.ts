import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ownersOf, parseCodeowners } from "../../../shared/test-health/app/codeowners.ts";

/** The example of GitHub's page, line for line, without its explanations. */
const DOCUMENTED = `# This is a comment.
# Each line is a file pattern followed by one or more owners.

*       @global-owner1 @global-owner2

*.js    @js-owner #This is an inline comment.

*.go docs@example.com

*.txt @octo-org/octocats

/build/logs/ @doctocat

docs/* docs@example.com

apps/ @octocat

/docs/ @doctocat

/scripts/ @doctocat @octocat

**/logs @octocat

/apps/ @octocat
/apps/github
`;

const owners = (text: string, path: string): readonly string[] => ownersOf(parseCodeowners(text).rules, path);
const isOwned = (pattern: string, path: string): boolean => owners(`${pattern} @a`, path).length > 0;
const problems = (text: string): readonly string[] => parseCodeowners(text).issues.map((issue) => issue.message);

describe("the documented example", () => {
  test.each([
    ["README.md", ["@global-owner1", "@global-owner2"]],
    ["src/deep/er.rs", ["@global-owner1", "@global-owner2"]],
    ["main.js", ["@js-owner"]],
    ["src/app/main.js", ["@js-owner"]],
    ["main.go", ["docs@example.com"]],
    ["a/b.txt", ["@octo-org/octocats"]],
    // Later lines on `**/logs` and `/docs/` win over `/build/logs/` and `docs/*`.
    ["build/logs/today.txt", ["@octocat"]],
    ["docs/getting-started.md", ["@doctocat"]],
    ["docs/build-app/troubleshooting.md", ["@doctocat"]],
    ["pkg/docs/index.md", ["@global-owner1", "@global-owner2"]],
    ["web/apps/index.html", ["@octocat"]],
    ["apps/index.html", ["@octocat"]],
    ["scripts/run/all.sh", ["@doctocat", "@octocat"]],
    ["scripts/logs/a", ["@octocat"]],
    ["deeply/nested/logs/a/b", ["@octocat"]],
    ["deeply/nested/catalogs/a", ["@global-owner1", "@global-owner2"]],
    ["apps/github/index.js", []],
    ["apps/github", []],
    ["apps/githubber/index.js", ["@octocat"]],
  ])("gives %s to %j", (path, expected) => {
    expect(owners(DOCUMENTED, path)).toEqual(expected);
  });

  test("is read without an issue", () => {
    const { rules, issues } = parseCodeowners(DOCUMENTED);
    expect(issues).toEqual([]);
    expect(rules.map(({ line, pattern }) => `${line} ${pattern}`)).toEqual([
      "4 *",
      "6 *.js",
      "8 *.go",
      "10 *.txt",
      "12 /build/logs/",
      "14 docs/*",
      "16 apps/",
      "18 /docs/",
      "20 /scripts/",
      "22 **/logs",
      "24 /apps/",
      "25 /apps/github",
    ]);
  });

  test.each([
    ["an owner of its own instead of none", "/apps/ @octocat\n/apps/github @doctocat", "apps/github/a", ["@doctocat"]],
    ["owners of one pattern on two lines: the last counts", "*.rb @a\n*.rb @b", "x.rb", ["@b"]],
    ["a general pattern after a particular one", "/x.rb @a\n* @b", "x.rb", ["@b"]],
    ["a directory and a change in it", "/apps/ @doctocat @octocat", "apps/a/b", ["@doctocat", "@octocat"]],
    ["a team", "/apps/ @example-org/content-team", "apps/a", ["@example-org/content-team"]],
    ["no rule at all", "/apps/ @doctocat", "src/a", []],
  ])("further: %s", (_, text, path, expected) => {
    expect(owners(text, path)).toEqual(expected);
  });
});

describe("a pattern", () => {
  test.each([
    ["/build/logs/", "build/logs/a"],
    ["/build/logs/", "build/logs/a/b"],
    ["docs/*", "docs/getting-started.md"],
    ["apps/", "apps/a"],
    ["apps/", "a/apps/b/c"],
    ["/docs/", "docs/a/b"],
    ["**/logs", "logs/a"],
    ["**/logs", "scripts/logs"],
    ["src", "src/a"],
    ["src", "web/src/a"],
    ["src/app", "src/app/a"],
    ["/*", "README.md"],
    ["/src/**", "src/a/b"],
    ["/src/**/test.ts", "src/test.ts"],
    ["/src/**/test.ts", "src/a/b/test.ts"],
    ["docs/**/*", "docs/a/b"],
    ["*.test.ts", "a/b.test.ts"],
    ["docs/*.md", "docs/a.md"],
    ["a?c.ts", "abc.ts"],
    ["path\\ with\\ spaces/", "path with spaces/a"],
    ["/a\\ b.ts", "a b.ts"],
    ["src/C#/", "src/C#/a.cs"],
    ["a\\#b", "a#b"],
    ["a\\*b", "a*b"],
    ["a\\?b", "a?b"],
    ["a*b", "a*b"],
    ["a?b", "a?b"],
    ["app/\\[id\\]/page.tsx", "app/[id]/page.tsx"],
    ["/a.ts", "a.ts"],
    ["**", "a/b"],
    ["**/", "a/b"],
    ["/a/**/", "a/b/c"],
    ["/(group)/{a}+b|c@d", "(group)/{a}+b|c@d/e"],
    [".github/", ".github/workflows/ci.yaml"],
  ])("%s owns %s", (pattern, path) => {
    expect(problems(`${pattern} @a`)).toEqual([]);
    expect(isOwned(pattern, path)).toBe(true);
  });

  test.each([
    ["/build/logs/", "a/build/logs/b"],
    ["/build/logs/", "build/logs"],
    ["docs/*", "docs/build-app/troubleshooting.md"],
    ["docs/*", "a/docs/b"],
    ["apps/", "apps"],
    ["apps/", "myapps/a"],
    ["/docs/", "a/docs/b"],
    ["**/logs", "catalogs/a"],
    ["src/app", "web/src/app/a"],
    ["/*", "src/a"],
    ["/src/**", "src"],
    ["*.js", "a.jsx"],
    ["*.js", "A.JS"],
    ["/Docs/", "docs/a"],
    ["docs/*.md", "docs/a/b.md"],
    ["a?c.ts", "a/c.ts"],
    ["a\\*b", "axb"],
    ["a\\?b", "axb"],
    ["a.b", "axb"],
    ["**/", "a"],
    ["/a/**/", "a/b"],
  ])("%s does not own %s", (pattern, path) => {
    expect(isOwned(pattern, path)).toBe(false);
  });
});

describe("a line", () => {
  test.each([
    ["!/src/a.ts @a", "excludes nothing"],
    ["[Section] @a", "ranges of characters"],
    ["*.[ch] @a", "ranges of characters"],
    ["a\\\\[b] @a", "ranges of characters"],
    ["\\#file @a", 'escaped "#"'],
    ["***/*.rb @monalisa", "more than two"],
    ["*.txt docs@", 'The owner "docs@"'],
    ["*.txt @", 'The owner "@"'],
    ["*.txt @a/b/c", 'The owner "@a/b/c"'],
    ["*.txt octocat", 'The owner "octocat"'],
    ["*.txt @a nobody", 'The owner "nobody"'],
    ["/ @a", "names nothing"],
    ["a\\", "escapes nothing"],
  ])("%j is skipped and reported", (line, message) => {
    const { rules, issues } = parseCodeowners(`* @all\n${line}\n/x @x`);
    expect(rules.map((rule) => rule.pattern)).toEqual(["*", "/x"]);
    expect(issues).toEqual([{ line: 2, message: expect.stringContaining(message) }]);
  });

  test("longer than any path, or than 64 KB, is skipped and reported", () => {
    const text = ["a".repeat(1_025), "b".repeat(1_024), `* ${"@a ".repeat(30_000)}`].join("\n");
    const { rules, issues } = parseCodeowners(text);
    expect(rules.map((rule) => rule.line)).toEqual([2]);
    expect(issues.map((issue) => issue.line)).toEqual([1, 3]);
  });

  test.each([
    ["a comment in it ends it", "/a @b # @c", ["@b"]],
    ["a comment right behind an owner, too", "/a @b#c", ["@b"]],
    ["a comment behind a pattern leaves it without owners", "* @b\n/a # @c", []],
    ["blanks and tabs divide it", "\t/a \t @b\t\t@c  ", ["@b", "@c"]],
    ["carriage returns and a mark at the beginning do no harm", "\ufeff/a @b\r\n/b @c\r\n", ["@b"]],
    ["an owner may be an e-mail address", "/a first.last+x@sub.example.co.uk", ["first.last+x@sub.example.co.uk"]],
    ["an owner may be a managed user", "/a @mona_corp", ["@mona_corp"]],
  ])("%s", (_, text, expected) => {
    expect(parseCodeowners(text).issues).toEqual([]);
    expect(owners(text, "a")).toEqual(expected);
  });
});

describe("a file", () => {
  test("of 3 MB is not loaded, one below is", () => {
    const most = 3 * 1024 * 1024;
    expect(parseCodeowners("* @a\n".padEnd(most, "#"))).toEqual({
      rules: [],
      issues: [{ line: 1, message: expect.stringContaining("3 MB") }],
    });
    expect(parseCodeowners("* @a\n".padEnd(most - 1, "#")).rules).toHaveLength(1);
    expect(parseCodeowners("* @a\n".padEnd(most / 2 + 3, "é")).rules).toHaveLength(0);
  });

  test("that is none is reported a hundred times at most", () => {
    expect(parseCodeowners("<html> no\n".repeat(5_000)).issues).toHaveLength(100);
  });

  test("of whatever content is read", () => {
    const text = fc.array(
      fc.oneof(fc.string(), fc.constantFrom("\n", " ", "\\", "*", "**", "/", "[", "#", "!", "@a", "\u0000")),
    );
    fc.assert(
      fc.property(text, fc.string(), (bits, path) => {
        const { rules, issues } = parseCodeowners(bits.join(""));
        expect(Array.isArray(ownersOf(rules, path))).toBe(true);
        expect(issues.every(({ line, message }) => line > 0 && message.length < 300)).toBe(true);
      }),
    );
  });

  test("of 10,000 rules says who owns 100 files before one has waited", () => {
    const patterns = [
      "/services/team-#/",
      "*.ext#",
      "packages/pkg#/**/test_*.ts",
      "**/dir#",
      "apps/app-#/src/*",
      "lib#/",
    ];
    const text = Array.from(
      { length: 10_000 },
      (_, at) => `${patterns[at % 6]?.replace("#", String(at))} @team-${at}`,
    ).join("\n");
    const { rules, issues } = parseCodeowners(text);
    expect([rules.length, issues.length]).toEqual([10_000, 0]);
    for (let at = 0; at < 100; at++) {
      expect(ownersOf(rules, `packages/frontend/src/components/button-${at}/button.test.tsx`)).toEqual([]);
    }
  });

  // What tries all the ways in which a star can match would not end.
  test("made to cost time costs little", () => {
    const hostile = [
      `${"*a".repeat(500)}b`,
      `${"**/a/".repeat(200)}b`,
      `/${"?*".repeat(500)}x`,
      `${"*".repeat(2)}${"/*".repeat(500)}`,
    ];
    const { rules } = parseCodeowners(hostile.map((pattern) => `${pattern} @a`).join("\n"));
    expect(rules).toHaveLength(4);
    ownersOf(rules, "a".repeat(1_024));
    ownersOf(rules, "a/".repeat(500));
    expect(ownersOf(parseCodeowners("* @a").rules, "a".repeat(1_025))).toEqual([]);
    parseCodeowners("\\".repeat(2_000_000));
    parseCodeowners("\\\\".repeat(30_000));
    parseCodeowners(` ${"x".repeat(60_000)} ${"@a.".repeat(1_000)}`);
  });
});
