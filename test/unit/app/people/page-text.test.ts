import { describe, expect, test } from "vitest";
import { code, line, linked, plain } from "../../../../shared/queue/app/people/page-text.ts";

const BREAK = "\u200B";

describe("a sentence with other people's words", () => {
  test.each([
    ["mentions nobody", "ask @team/core or ada@example.com", `ask @${BREAK}team/core or ada@${BREAK}example.com`],
    ["refers to nothing", "see #12, GH-3 and acme/app#4", `see #${BREAK}12, GH-${BREAK}3 and acme/app#${BREAK}4`],
    ["is no link", "[x](http://evil.example)", String.raw`\[x\](http:${"\u200B"}//evil.example)`],
    [
      "is no link by itself",
      "https://evil.example www.evil.example",
      `https:${BREAK}//evil.example www${BREAK}.evil.example`,
    ],
    ["is no image", "![x](//evil.example/x.png)", String.raw`!\[x\](//evil.example/x.png)`],
    ["is no HTML", "<img src=x onerror=alert(1)>", String.raw`\<img src=x onerror=alert(1)\>`],
    ["hides nothing", "<!-- mainline:main -->", String.raw`\<!-- mainline:main --\>`],
    ["ends no folded part", "</details>", String.raw`\</details\>`],
    ["is no entity", "&lt;b&gt;", String.raw`\&lt;b\&gt;`],
    ["is no code", "`rm -rf /` ``` x", "\\`rm -rf /\\` \\`\\`\\` x"],
    ["stands out in no way", "*a* _b_ ~~c~~ $d$ | e", String.raw`\*a\* \_b\_ \~\~c\~\~ \$d\$ \| e`],
    ["cannot take an escape back", String.raw`\*a\*`, String.raw`\\\*a\\\*`],
    ["begins no heading", "# Merged", String.raw`\# Merged`],
    ["begins no list", "- [x] done", String.raw`\- \[x\] done`],
    ["begins no numbered list", "1. one", String.raw`1\. one`],
    ["is no rule", "--- a", String.raw`\--- a`],
    ["is one line", "a\n\n# b\r\n> c\u2028d\te", String.raw`a # b \> c d e`],
    ["turns no text around", "safe \u202Etxt.exe\u202C \u2066x\u2069", "safe txt.exe x"],
    ["hides no characters", "a\u200Bb\u0000c\uFEFFd\u{E0001}e", "a b c d e"],
  ])("%s", (_, text, shown) => {
    expect(plain(text)).toBe(shown);
  });

  test("has an end, and no half of a character there", () => {
    expect(plain("a".repeat(10_000))).toHaveLength(300);
    expect(plain("\u{1F600}".repeat(10_000)).isWellFormed()).toBe(true);
    expect(line("\u{1F600}".repeat(100), 20).isWellFormed()).toBe(true);
  });

  test("that is harmless is not touched", () => {
    expect(plain("unit (linux) failed in q1-12: 3 of 14, 50 %")).toBe("unit (linux) failed in q1-12: 3 of 14, 50 %");
  });
});

describe("a name", () => {
  test.each([
    ["main", "`main`"],
    ["a`b``c", "`a'b''c`"],
    ["a\nb", "`a b`"],
    ["@team <!-- x --> [y](z)", "`@team <!-- x --> [y](z)`"],
    ["\u202E", "` `"],
  ])("%j has no end but its own", (name, shown) => {
    expect(code(name)).toBe(shown);
  });
});

describe("a link", () => {
  test.each([
    ["https://ci.example/run/1", "[x](<https://ci.example/run/1>)"],
    ["https://ci.example/a b)](<x>", "[x](<https://ci.example/a%20b)](%3Cx%3E>)"],
    [String.raw`https://ci.example/?a=\ `, "[x](<https://ci.example/?a=%5C>)"],
    ["https://ci.example/\n\n# x", "[x](<https://ci.example/#%20x>)"],
  ])("leads to %j and nowhere else", (url, shown) => {
    expect(linked("x", url)).toBe(shown);
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "//evil.example", "", "x".repeat(3000), null])(
    "to %j is none",
    (url) => {
      expect(linked("x", url)).toBe("x");
    },
  );
});
