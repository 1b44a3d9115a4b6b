import { describe, expect, test } from "vitest";
import { READ_BYTES_MAX } from "../../../shared/test-health/junit/caps.ts";
import { bytesOf, counted, issueOf, reading, suite } from "./reading.ts";

describe("caps", () => {
  test("of a file, 20 MiB are read", () => {
    const one = `<testcase name="a"><system-out>${"x".repeat(64 * 1024)}</system-out></testcase>`;
    const large = bytesOf(`<testsuite name="s" tests="400">${one.repeat(400)}</testsuite>`);
    const report = reading(large);
    expect(report.counts.tests).toBe(Math.ceil((READ_BYTES_MAX - 30) / one.length));
    expect(report.issues.map(({ message }) => message)).toEqual([
      "The file is larger than 20 MiB; only the first 20 MiB were read.",
      `The file ends within the case "a": without a failure it counts as skipped.`,
    ]);
  });

  test("elements deeper than 64 are passed over, and those behind them are read", () => {
    const deep = (depth: number): string =>
      `${"<testsuite>".repeat(depth)}<testcase name="d"/>${"</testsuite>".repeat(depth)}`;
    expect(reading(suite(`${deep(62)}<testcase name="a"/>`))).toMatchObject({ counts: counted(2), issues: [] });
    const report = reading(suite(`${deep(63)}<testcase name="a"/>`));
    expect(report.counts).toEqual(counted(1));
    expect(issueOf(report, "deeper than 64")).toBeDefined();
  });

  test.each(["<testsuite>", "<a>", `<a b="c">`])("hundreds of thousands of %s cost next to nothing", (open) => {
    const many = open.repeat(300_000);
    const report = reading(suite(`<testcase name="a"/>${many}<testcase name="b"/>`));
    expect(report.counts).toEqual(counted(1));
    expect(issueOf(report, "deeper than 128")).toBeDefined();
    // Without an end at all, and for the lenient reader.
    expect(reading(`<testsuite><testcase name="a"/>&x;${many}`).counts).toEqual(counted(1));
    expect(reading(`<x>&x;<testsuite/>${many}`).counts).toEqual(counted(0));
  });

  test("an attribute is kept up to 64 KB, however long it is", () => {
    const report = reading(suite(`<testcase name="${"n".repeat(19 * 1024 * 1024)}"/>`));
    expect(report.cases[0]?.name).toBe("n".repeat(65_536));
    expect(issueOf(report, "attribute is longer than 64 KB")).toBeDefined();
    expect(reading(suite(`<testcase name="${"n".repeat(65_536)}"/>`)).issues).toEqual([]);
  });

  test("an attribute of millions of references is read like any other", () => {
    const report = reading(suite(`<testcase name="${"&amp;".repeat(2_000_000)}"/>`));
    expect(report.cases[0]?.name).toBe("&".repeat(65_536));
  });

  test("of an element with more than a thousand attributes reading stops", () => {
    const attributes = (count: number): string => Array.from({ length: count }, (_, at) => `a${at}="" `).join("");
    const both = (count: number): string => suite(`<testcase name="a"/><testcase ${attributes(count)}/>`);
    expect(reading(both(1_000))).toMatchObject({ counts: counted(2), issues: [] });
    expect(reading(both(200_000)).counts).toEqual(counted(1));
    expect(issueOf(reading(both(1_001)), "more than 1,000 attributes")).toBeDefined();
    expect(issueOf(reading(`&a;${both(1_001)}`), "more than 1,000 attributes")).toBeDefined();
  });

  test("a failure's text is kept up to 64 KB", () => {
    const text = "&lt;x ".repeat(30_000);
    const report = reading(suite(`<testcase name="a"><failure>${text}</failure></testcase><testcase name="b"/>`));
    expect(report.counts).toEqual(counted(2, 1));
    expect(report.cases[0]?.attempts[0]?.failure?.text).toBe("<x ".repeat(30_000).slice(0, 65_536));
    expect(issueOf(report, "text of a failure is longer than 64 KB")).toBeDefined();
  });

  test("250,000 cases are read", () => {
    const report = reading(suite("<testcase/>".repeat(250_001)));
    expect(report.counts).toEqual(counted(250_000));
    expect(issueOf(report, "more than 250,000 cases")).toBeDefined();
    expect(reading(suite("<testcase/>".repeat(250_000))).issues).toEqual([]);
  });

  test("a case has a thousand attempts of a kind", () => {
    const report = reading(suite(`<testcase name="a">${"<flakyFailure/>".repeat(1_500)}</testcase>`));
    expect(report.cases[0]?.attempts).toHaveLength(1_001);
    expect(issueOf(report, "more than 1,000 attempts")).toBeDefined();
  });

  test("a hundred issues are listed, and how many more there are", () => {
    const report = reading(suite(suite(`<testcase/>`, `name="s" tests="2"`).repeat(150)));
    expect(report.issues).toHaveLength(101);
    expect(report.issues.at(-1)?.message).toBe("50 more issues are not listed.");
  });
});
