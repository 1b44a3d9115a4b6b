import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readJUnit } from "../../../shared/test-health/junit/read.ts";
import { testsOf } from "../../../shared/test-health/junit/tests.ts";
import { bytesOf, fixture } from "./reading.ts";

const FIXTURES = [
  "gtest.xml",
  "node-test.xml",
  "phpunit.xml",
  "playwright-includeRetries.xml",
  "vitest.xml",
  "ctest.xml",
];

/** What holds for whatever is sent. */
function holds(bytes: Uint8Array): void {
  const report = readJUnit(bytes);
  if (report.kind === "REFUSED") {
    expect(report.what).toMatch(/\.$/u);
    return;
  }
  const { cases, counts, issues } = report;
  const among = (outcome: string): number => cases.filter((one) => one.outcome === outcome).length;
  expect(counts).toEqual({
    tests: cases.length,
    failures: among("FAILED"),
    errors: among("ERRORED"),
    skipped: among("SKIPPED"),
  });
  if (counts.tests === 0) expect(issues).not.toEqual([]);
  expect(issues.length).toBeLessThanOrEqual(101);
  expect(issues.filter(({ line, column }) => line < 1 || column < 1)).toEqual([]);
  for (const one of cases) {
    const last = one.attempts.at(-1)?.outcome;
    if (one.outcome === "PASSED" && last !== undefined) expect(last).toBe("PASSED");
    if (one.outcome === "SKIPPED") expect(last).toBeUndefined();
    if (one.outcome === "FAILED" || one.outcome === "ERRORED") expect(one.attempts.length).toBeGreaterThan(0);
  }
  expect(testsOf(cases).length).toBeLessThanOrEqual(cases.length);
}

/** Pieces that mean something to one reader of XML or the other. */
const PIECES = [
  "<testsuites>",
  "</testsuites>",
  `<testsuite name="s" tests="1">`,
  "</testsuite>",
  `<testcase name="a">`,
  `<testcase name='b' status="notrun"/>`,
  "</testcase>",
  `<failure message="m">`,
  "</failure>",
  "<error/>",
  "<skipped/>",
  "<flakyFailure>",
  "</flakyFailure>",
  "<rerunError/>",
  "<system-out>",
  "</system-out>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "-->",
  "<?xml version='1.0'?>",
  "<!DOCTYPE x [<!ENTITY e 'v'>",
  "]>",
  "&e;",
  "&#0;",
  "&#x1f600;",
  "&",
  "<",
  ">",
  '"',
  "'",
  "=",
  "/>",
  "\u001b[31m",
  "\u0000",
  "\uFEFF",
  "text\n",
  "<html>",
];

describe("whatever is sent is read or refused, and is never silently zero:", () => {
  test("any bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), holds), { numRuns: 300 });
  });

  test("any text that looks like XML", () => {
    const xml = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => bytesOf(pieces.join("")));
    fc.assert(fc.property(xml, holds), { numRuns: 1_500 });
  });

  test("the files of runners with bytes changed, taken out and put in", () => {
    const change = fc.record({
      at: fc.nat(10_000),
      out: fc.nat(40),
      in: fc.oneof(fc.constantFrom(...PIECES), fc.string()),
    });
    const file = fc.constantFrom(...FIXTURES);
    fc.assert(
      fc.property(file, fc.array(change, { minLength: 1, maxLength: 5 }), (name, changes) => {
        let bytes: Uint8Array = fixture(name);
        for (const { at, out, in: text } of changes) {
          const start = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, start), bytesOf(text), bytes.subarray(start + out)]);
        }
        holds(bytes);
      }),
      { numRuns: 300 },
    );
  });

  test("the files of runners in an encoding that is not theirs", () => {
    const encodings = fc.constantFrom("utf-16", "utf-16be", "iso-2022-jp", "gb18030", "windows-1252", "x-user-defined");
    fc.assert(
      fc.property(fc.constantFrom(...FIXTURES), encodings, fc.boolean(), (name, encoding, isUtf16) => {
        const text = new TextDecoder().decode(fixture(name)).replace(/^<\?xml[^>]*>/u, "");
        const declared = `<?xml version="1.0" encoding="${encoding}"?>${text}`;
        holds(isUtf16 ? Buffer.from(declared, "utf16le") : bytesOf(declared));
      }),
      { numRuns: 60 },
    );
  });

  test("what is well-formed is read exactly", () => {
    const inner = fc.constantFrom("", "<failure/>", "<error/>", "<skipped/>", "<failure/><error/>", "<flakyError/>");
    const name = fc.string({ maxLength: 20 });
    const escaped = (text: string): string =>
      text.replace(/[<&"]|[^\x20-\x7E]/gu, (one) => `&#${one.codePointAt(0) ?? 0};`);
    const shapes = fc.array(fc.record({ name, inner, isNested: fc.boolean() }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(shapes, (cases) => {
        const element = (one: (typeof cases)[number]): string => {
          const xml = `<testcase name="${escaped(one.name)}">${one.inner}</testcase>`;
          return one.isNested ? `<testsuite name="n">${xml}</testsuite>` : xml;
        };
        const report = readJUnit(bytesOf(`<testsuite name="s">${cases.map(element).join("")}</testsuite>`));
        expect(report).toMatchObject({ kind: "READ", issues: [] });
        expect(report.kind === "READ" ? report.cases.map((one) => one.name) : []).toEqual(cases.map((one) => one.name));
      }),
      { numRuns: 200 },
    );
  });
});

describe("what is made to be expensive is cheap:", () => {
  const MIB = 1024 * 1024;
  const times = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));

  test.each([
    ["an attribute that never ends", `<testsuite><testcase name="${times("x", MIB)}`],
    ["a reference that never ends", `<testsuite><testcase name="a"/>&${times("x", MIB)}`],
    ["a comment that never ends", `<testsuite><!--${times("-x", MIB)}`],
    ["CDATA that never ends", `<testsuite><testcase name="a"><failure><![CDATA[${times("]] >", MIB)}`],
    ["a declaration that never ends", `<testsuite><!${times("A", MIB)}`],
    ["a document type that never ends", `<!DOCTYPE x [${times("<!ENTITY a 'b'>", MIB)}`],
    ["nothing but <", times("<", MIB)],
    ["nothing but references", `<testsuite>${times("&a;", MIB)}`],
    ["nothing but ends", `<testsuite><testcase name="a"/>${times("</a>", MIB)}`],
    ["nothing but attributes", `<testsuite><testcase ${times(`a="b" `, MIB)}/>`],
    [
      "attributes that all differ",
      `<testsuite><testcase ${Array.from({ length: 50_000 }, (_, at) => `a${at}="" `).join("")}/>`,
    ],
    ["instructions without end", `${times("<?a ?>", MIB)}<!DOCTYPE`],
    ["space without end", times(" ", MIB)],
    ["elements in turn, deeply", `${times("<a>", 300)}${times("<b></b>", MIB)}`],
  ])("%s", (_, text) => {
    holds(bytesOf(text));
  });
});
