import { describe, expect, test } from "vitest";
import { bytesOf, counted, fixture, issueOf, messages, onlyCase, reading, refusal, suite } from "./reading.ts";

const CASES = `<testcase name="é→日本" classname="C"/><testcase name="b"><failure message="m">t</failure></testcase>`;
const XML = suite(CASES);
const utf16 = (text: string, isBig: boolean): Uint8Array => {
  const bytes = new Uint8Array(text.length * 2);
  for (let at = 0; at < text.length; at += 1) new DataView(bytes.buffer).setUint16(at * 2, text.charCodeAt(at), !isBig);
  return bytes;
};

describe("encodings", () => {
  const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>\n${XML}`;

  test.each([
    ["UTF-8 with a byte-order mark", bytesOf(`\uFEFF${declared("utf-8")}`)],
    ["UTF-8 that says it is UTF-16", bytesOf(declared("utf-16"))],
    ["UTF-8 that says it is something unknown", bytesOf(declared("klingon-1"))],
    ["UTF-16LE with a byte-order mark", utf16(`\uFEFF${declared("utf-16")}`, false)],
    ["UTF-16BE with a byte-order mark", utf16(`\uFEFF${declared("utf-16")}`, true)],
    ["UTF-16LE without one", utf16(declared("utf-16"), false)],
    ["UTF-16BE without one", utf16(XML, true)],
  ])("%s", (_, bytes) => {
    const report = reading(bytes);
    expect(report.cases[0]?.name).toBe("é→日本");
    expect(report.counts).toEqual(counted(2, 1));
  });

  test("a declaration that is not followed is an issue, and one that is followed is none", () => {
    expect(messages(reading(bytesOf(declared("utf-16"))))).toEqual([
      "The file says its encoding is utf-16; it was read as UTF-8.",
    ]);
    expect(reading(utf16(declared("utf-16"), false)).issues).toEqual([]);
  });

  test("ISO-8859-1 is followed", () => {
    const latin = Uint8Array.from(
      `<?xml version='1.0' encoding='ISO-8859-1'?>${suite(`<testcase name="caf\xe9"/>`)}`,
      (one) => one.charCodeAt(0),
    );
    expect(reading(latin).cases[0]?.name).toBe("café");
    expect(reading(latin).issues).toEqual([]);
  });

  test("bytes that are no UTF-8 are an issue", () => {
    const broken = Uint8Array.from(suite(`<testcase name="caf\xe9"/>`), (one) => one.charCodeAt(0));
    const report = reading(broken);
    expect(report.cases[0]?.name).toBe("caf\uFFFD");
    expect(issueOf(report, "not valid UTF-8")).toBeDefined();
  });

  test("a character is never cut through where one piece of the file ends and the next begins", () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const text = `${"x".repeat(65_536 - 70 + shift)}${"日😀é".repeat(40)}`;
      const one = onlyCase(suite(`<testcase name="a"><failure>${text}</failure></testcase>`));
      expect(one.attempts[0]?.failure?.text).toBe(text.slice(0, 65_536));
    }
  });
});

describe("around the XML", () => {
  test("space before it is nothing to speak of", () => {
    expect(reading(`\n  <?xml version="1.0"?>${XML}\n\n`)).toMatchObject({ counts: counted(2, 1), issues: [] });
  });

  test("other text before it is passed over, with an issue", () => {
    const report = reading(`> vitest run\n\n<?xml version="1.0"?>\n${suite(`<testcase time="x"/>`)}`);
    expect(report.counts).toEqual(counted(1));
    expect(messages(report)[0]).toBe(`Before the XML there is "> vitest run", which was passed over.`);
    expect(issueOf(report, "not a plain number")?.line).toBe(4);
  });

  test("text before it that has markup of its own, and text behind it", () => {
    const report = reading(`usage: run <file> [options]\n<?xml version="1.0"?>\n${XML}\nnpm ERR! <code> 1`);
    expect(report.counts).toEqual(counted(2, 1));
    expect(issueOf(report, "not well-formed XML")).toBeDefined();
  });

  test("two documents are both read, with an issue", () => {
    const twice = reading(`<?xml version="1.0"?>\n${XML}\n<?xml version="1.0"?>\n<testsuites>${XML}</testsuites>`);
    expect(twice.counts).toEqual(counted(4, 2));
    expect(twice.cases.map(({ parent }) => parent)).toEqual(["s", "s", "s", "s"]);
    expect(issueOf(twice, "Another document begins in the same file")).toMatchObject({ line: 4 });
    expect(reading(`${XML}${XML}`).counts).toEqual(counted(4, 2));
  });
});

describe("XML that is not well-formed", () => {
  test.each([
    [
      "an attribute without quotes",
      `<testsuite name=s><testcase name=a><failure message=m>t</failure></testcase></testsuite>`,
    ],
    ["a bare ampersand", suite(`<testcase name="a & b"><failure message="m">x && y</failure></testcase>`)],
    ["an entity of HTML", suite(`<testcase name="a&nbsp;b"><failure message="m"/></testcase>`)],
    [
      "markup in a failure",
      suite(`<testcase name="a"><failure message="m">expected <T> & <List<T>></failure></testcase>`),
    ],
    ["a < in an attribute", suite(`<testcase name="a < b"><failure message="m"/></testcase>`)],
    ["the same attribute twice", suite(`<testcase name="a" name="b"><failure message="m"/></testcase>`)],
    ["a terminal's colours", suite(`<testcase name="a"><failure message="\u001b[31mm\u001b[0m"/></testcase>`)],
    ["a colour as a reference", suite(`<testcase name="a"><failure message="&#x1b;[31mm&#27;[0m"/></testcase>`)],
    ["a zero", suite(`<testcase name="a\u0000"><failure message="m"/></testcase>`)],
    ["two dashes in a comment", suite(`<!-- a -- b --><testcase name="a"><failure message="m"/></testcase>`)],
    [
      "an end that is missing",
      suite(`<testcase name="a"><properties><failure message="m"/></properties><failure message="m"></testcase>`),
    ],
    ["an end too many", suite(`<testcase name="a"><failure message="m"/></testcase></testcase>`)],
  ])("with %s is read, with an issue that says where", (_, xml) => {
    const report = reading(xml);
    expect(report.counts).toEqual(counted(1, 1));
    expect(report.cases[0]?.attempts[0]?.failure?.message).toBe("m");
    expect(issueOf(report, "not well-formed XML")).toMatchObject({ line: 1 });
  });

  test("leaves no control characters in names and texts, nor what is left of colours", () => {
    const one = onlyCase(
      suite(`<testcase name="\u001b[1;31mred\u001b[0m\u0008 x"><failure>\u001b[2Kt\u0001</failure></testcase>`),
    );
    expect(one.name).toBe("red x");
    expect(one.attempts[0]?.failure?.text).toBe("t");
  });

  test("what both readers understand, the one that finds more keeps", () => {
    const quote = `${suite(`<testcase name="a"/><testcase name="b"/><testcase name="c/>`)} and no end`;
    expect(reading(quote).counts.tests).toBeGreaterThanOrEqual(2);
    const comment = suite(`<testcase name="a"/><!-- <testcase name="b"/>`);
    expect(reading(comment).counts.tests).toBe(1);
    expect(issueOf(reading(comment), "not well-formed XML")).toBeDefined();
  });
});

describe("a file that ends too early", () => {
  const whole = suite(
    `<testcase name="a"/>\n<testcase name="b"><failure message="m">text</failure></testcase>\n<testcase name="c"/>`,
  );
  const until = (text: string): string => whole.slice(0, whole.indexOf(text) + text.length);

  test.each([
    [until(`name="a"/>`), counted(1)],
    [until(`name="b">`), counted(2, 0, 0, 1)],
    [until(`message="m">`), counted(2, 1)],
    [until(`">te`), counted(2, 1)],
    [until(`</failure>`), counted(2, 1)],
    [until(`<testcase name="c"`), counted(2, 1)],
    [until(`<testcase name="c"/>`), counted(3, 1)],
  ])("%j counts what is there", (xml, counts) => {
    const report = reading(xml);
    expect(report.counts).toEqual(counts);
    expect(issueOf(report, "not well-formed XML (unclosed tag")).toBeDefined();
  });

  test("is never taken for passing in its last case", () => {
    const report = reading(until(`name="b">`));
    expect(report.cases.at(-1)).toMatchObject({ name: "b", outcome: "SKIPPED", attempts: [] });
    expect(issueOf(report, `The file ends within the case "b"`)).toMatchObject({ line: 2 });
  });

  test("each of a real one's beginnings is read, refused, or has an issue", () => {
    const bytes = fixture("playwright.xml");
    const FIRST_TAG = bytes.indexOf(0x3e);
    for (let end = 0; end < bytes.length; end += 37) {
      const part = bytes.subarray(0, end);
      if (end <= FIRST_TAG) expect(refusal(part)).not.toBe("");
      else expect(reading(part).issues.length).toBeGreaterThan(0);
    }
  });
});

describe("entities", () => {
  test("of the document's own are never expanded, and nothing they name is fetched", () => {
    const doctype = `<!DOCTYPE testsuite [ <!ENTITY a "expanded"> <!ENTITY e SYSTEM "file:///etc/passwd"> <!ENTITY t "<testcase name='t'/>"> ]>`;
    const report = reading(`<?xml version="1.0"?>\n${doctype}\n${suite(`<testcase name="&a;&e;"/>&t;`)}`);
    expect(report.cases.map(({ name }) => name)).toEqual(["&a;&e;"]);
    expect(issueOf(report, "undefined entity")).toMatchObject({ line: 3 });
  });

  test("that would grow without end cost nothing", () => {
    const levels = Array.from({ length: 30 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join("");
    const report = reading(
      `<!DOCTYPE x [<!ENTITY l0 "lol">${levels}]>${suite(`<testcase name="&l30;"><failure>&l30;</failure></testcase>`)}`,
    );
    expect(report.cases[0]?.name).toBe("&l30;");
    expect(report.counts).toEqual(counted(1, 1));
  });

  test("a document type without any is nothing to speak of", () => {
    expect(reading(`<!DOCTYPE testsuite SYSTEM "junit.dtd">${XML}`)).toMatchObject({
      counts: counted(2, 1),
      issues: [],
    });
  });

  test("names of every object's own are entities like any other", () => {
    expect(onlyCase(suite(`<testcase name="&constructor;&__proto__;"/>`)).name).toBe("&constructor;&__proto__;");
  });

  test("attributes with such names are attributes like any other, and no fault of the file", () => {
    const own = `constructor="c" __proto__="p" toString="t" hasOwnProperty="h"`;
    const report = reading(suite(`<testcase ${own} name="n"/><testcase ${own}/>`));
    expect(report).toMatchObject({ counts: counted(2, 0), issues: [] });
    expect(report.cases.map((one) => one.name)).toEqual(["n", ""]);
    expect(messages(reading(suite(`<testcase __proto__="1" __proto__="2" name="n"/>`)))).toHaveLength(1);
  });
});
