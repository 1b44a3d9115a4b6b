import { describe, expect, test } from "vitest";
import type { Attempt } from "../../../shared/test-health/junit/report.ts";
import { counted, fixture, issueOf, messages, onlyCase, reading, suite } from "./reading.ts";

const outcomes = (attempts: readonly Attempt[]): readonly string[] => attempts.map((one) => one.outcome);

describe("the files of runners", () => {
  test.each([
    ["catch2.xml", counted(6, 3, 1, 0)],
    ["ctest.xml", counted(6, 2, 0, 3)],
    ["gtest-filtered.xml", counted(1)],
    ["gtest-repeat.xml", counted(7, 2, 0, 2)],
    ["gtest.xml", counted(7, 2, 0, 2)],
    ["jest-junit-default.xml", counted(7, 2, 0, 1)],
    ["jest-junit-file-attributes.xml", counted(7, 2, 0, 1)],
    ["mocha-builtin-xunit.xml", counted(7, 2, 0, 2)],
    ["node-test.xml", counted(6, 1, 0, 2)],
    ["phpunit.xml", counted(8, 2, 2, 2)],
    ["playwright-includeRetries.xml", counted(6, 1, 0, 2)],
    ["playwright.xml", counted(12, 2, 0, 4)],
    ["pytest-logging-all.xml", counted(15, 3, 3, 2)],
    ["pytest-xunit1.xml", counted(15, 3, 3, 2)],
    ["pytest-xunit2.xml", counted(15, 3, 3, 2)],
    ["vitest.xml", counted(7, 2, 0, 2)],
  ])("%s", (name, counts) => {
    expect(reading(fixture(name)).counts).toEqual(counts);
  });

  test.each([
    ["vitest.xml", "retry: 0"],
    ["jest-junit-default.xml", "jest.retryTimes(0)"],
    ["mocha-builtin-xunit.xml", "retries: 0"],
    ["pytest-xunit2.xml", "--reruns 0"],
    ["playwright.xml", "includeRetries: true"],
  ])("%s names the setting that shows retries", (name, setting) => {
    expect(issueOf(reading(fixture(name)), "does not show it")?.message).toContain(setting);
  });

  test("says nothing of retries where the file shows them, nor where the runner has none", () => {
    for (const name of ["playwright-includeRetries.xml", "gtest.xml", "phpunit.xml"])
      expect(issueOf(reading(fixture(name)), "does not show it")).toBeUndefined();
  });

  test("a test of several Playwright projects has the project as its variant", () => {
    const { cases } = reading(fixture("playwright.xml"));
    expect(new Set(cases.map((one) => one.variant))).toEqual(new Set(["p1", "p2"]));
    const one = reading(fixture("playwright-includeRetries.xml"));
    expect(new Set(one.cases.map(({ variant }) => variant))).toEqual(new Set([""]));
  });

  test("a hook that fails is a case of its own, with an issue", () => {
    const report = reading(fixture("mocha-builtin-xunit.xml"));
    const hook = report.cases.find((one) => one.name.startsWith(`"before all" hook`));
    expect(hook).toMatchObject({ name: `"before all" hook for "never runs"`, outcome: "FAILED" });
    expect(issueOf(report, "is a hook of its suite")?.line).toBe(39);
  });

  test("several failures of one case are one, with the text of the first", () => {
    const { cases } = reading(fixture("gtest.xml"));
    const [attempt, ...others] = cases.find((one) => one.name === "Fail")?.attempts ?? [];
    expect(others).toEqual([]);
    expect(attempt?.failure?.text).toBe("g.cc:2\nExpected equality of these values:\n  1\n  2\né→日本 <&>");
    expect(attempt?.failure?.type).toBeNull();
  });
});

describe("attempts", () => {
  test("that failed before it passed are attempts of one case that passed", () => {
    const one = onlyCase(
      suite(`<testcase name="a"><flakyFailure type="T" message="m"><stackTrace>at x</stackTrace>
        <system-out>noise</system-out></flakyFailure><flakyError/></testcase>`),
    );
    expect(one.outcome).toBe("PASSED");
    expect(outcomes(one.attempts)).toEqual(["FAILED", "ERRORED", "PASSED"]);
    expect(one.attempts[0]?.failure).toMatchObject({ type: "T", message: "m" });
    expect(one.attempts[0]?.failure?.text?.trim()).toBe("at x");
  });

  test("that were made after a failure follow it", () => {
    const xml = `<testcase name="a"><rerunFailure message="2"/><failure message="1"/><rerunError message="3"/></testcase>`;
    const one = onlyCase(suite(xml));
    expect(one.outcome).toBe("FAILED");
    expect(one.attempts.map(({ failure }) => failure?.message)).toEqual(["1", "2", "3"]);
  });

  test("a rerun within a case that passed came before it", () => {
    expect(outcomes(onlyCase(suite(`<testcase name="a"><rerunFailure/></testcase>`)).attempts)).toEqual([
      "FAILED",
      "PASSED",
    ]);
  });

  test("a skipped case has none", () => {
    expect(onlyCase(suite(`<testcase name="a"><skipped/></testcase>`)).attempts).toEqual([]);
  });

  test("of pytest that are followed by another of the same test are not known, unless they failed", () => {
    const report = reading(
      suite(
        `<testcase name="a"/><testcase name="a"/><testcase name="a"><failure/></testcase><testcase name="b"/>`,
        `name="pytest"`,
      ),
    );
    expect(report.cases.map(({ attempts }) => outcomes(attempts))).toEqual([[], [], ["FAILED"], ["PASSED"]]);
    expect(report.counts).toEqual(counted(4, 1));
    expect(issueOf(report, "pytest-rerunfailures ran tests again")).toBeDefined();
  });

  test("of several runs of pytest in one file are all known", () => {
    const run = (inner: string): string => suite(`<testcase name="a">${inner}</testcase>`, `name="pytest"`);
    const report = reading(`<testsuites>${run("")}${run("<failure/>")}</testsuites>`);
    expect(report.cases.map(({ attempts }) => outcomes(attempts))).toEqual([["PASSED"], ["FAILED"]]);
  });
});

describe("the outcome", () => {
  test.each([
    [`<failure/><error/>`, "ERRORED"],
    [`<error/><failure/><skipped/>`, "ERRORED"],
    [`<skipped/><failure/>`, "FAILED"],
    [`<failure/><failure/>`, "FAILED"],
    [`<skipped/>`, "SKIPPED"],
    [`<properties><property name="failure" value="x"/></properties>`, "PASSED"],
    [`<system-out><failure/></system-out>`, "PASSED"],
    [`<assertions><failure/></assertions>`, "PASSED"],
  ])("of %s is %s", (inner, outcome) => {
    expect(onlyCase(suite(`<testcase name="a">${inner}</testcase>`)).outcome).toBe(outcome);
  });

  test.each([
    `status="notrun"`,
    `status="disabled"`,
    `result="suppressed"`,
    `status="run" result="skipped"`,
    `status="Ignored"`,
  ])("of a case with %s is SKIPPED", (attributes) => {
    expect(onlyCase(suite(`<testcase name="a" ${attributes}/>`)).outcome).toBe("SKIPPED");
    expect(onlyCase(suite(`<testcase name="a" ${attributes}><failure/></testcase>`)).outcome).toBe("FAILED");
  });

  test("of a case whose status alone is a failure is PASSED, with an issue", () => {
    const report = reading(suite(`<testcase name="a" status="failed"/>`));
    expect(report.counts).toEqual(counted(1));
    expect(issueOf(report, "no failure in it")).toBeDefined();
    expect(reading(suite(`<testcase name="a" status="failed"><failure/></testcase>`)).issues).toEqual([]);
  });
});

describe("suites", () => {
  test("in suites: the outermost is the parent, the nearest file counts", () => {
    const inner = suite(`<testcase name="b"/><testcase name="c" filepath="own"/>`, `name="in" file="inner"`);
    const { cases } = reading(
      `<testsuites name="all"><testcase name="z"/>${suite(`<testcase name="a"/>${inner}`, `name="out" file="outer"`)}</testsuites>`,
    );
    expect(cases.map(({ name, parent, file }) => [name, parent, file])).toEqual([
      ["z", "", ""],
      ["a", "out", "outer"],
      ["b", "out", "inner"],
      ["c", "out", "own"],
    ]);
  });

  test("that do not name a file or a host have those of the suite around them", () => {
    const inner = (hostname: string): string =>
      suite(suite(`<testcase name="a"/>`, `name="in"`), `name="out" file="outer" hostname="${hostname}"`);
    const { cases } = reading(`<testsuites>${inner("p1")}${inner("p2")}</testsuites>`);
    expect(cases.map(({ file, variant }) => [file, variant])).toEqual([
      ["outer", "p1"],
      ["outer", "p2"],
    ]);
  });

  test("totals that disagree are an issue and change nothing", () => {
    const report = reading(
      suite(`<testcase name="a"><failure/></testcase>`, `name="s" tests="3" failures="0" errors="0"`),
    );
    expect(report.counts).toEqual(counted(1, 1));
    expect(messages(report)).toEqual([
      `The suite "s" says 3 tests and contains 1, 0 failures and contains 1. The cases count.`,
    ]);
  });

  test("totals that agree are none, whether disabled cases are among the skipped ones or beside them", () => {
    const cases = `<testcase name="a"><skipped/></testcase><testcase name="b" status="disabled"/><testcase name="c"/>`;
    for (const totals of [`skipped="1" disabled="1"`, `skipped="2" disabled="1"`, `skipped="2"`, `tests="odd"`, ""])
      expect(reading(suite(cases, `name="s" ${totals}`)).issues).toEqual([]);
    expect(reading(suite(cases, `name="s" skipped="0"`)).issues).toHaveLength(1);
  });

  test("an error of a suite is an issue and no case", () => {
    const report = reading(suite(`<error message="setup"/><testcase name="a"/>`));
    expect(report.counts).toEqual(counted(1));
    expect(issueOf(report, "error of a suite")).toBeDefined();
  });

  test("a well-formed report without a case is read as zero, with an issue", () => {
    for (const xml of [
      `<testsuites/>`,
      `<testsuite name="s" tests="0"></testsuite>`,
      `<testsuites><testsuite/></testsuites>`,
    ]) {
      const report = reading(xml);
      expect(report.counts).toEqual(counted(0));
      expect(messages(report)).toEqual(["There is no test case in this file."]);
    }
  });
});

describe("the hostname", () => {
  const run = (hostname: string, name = "a"): string =>
    suite(`<testcase name="${name}"/>`, `name="s" hostname="${hostname}"`);

  test("is the variant where the same test ran under two", () => {
    const { cases } = reading(`<testsuites>${run("chromium")}${run("firefox")}${run("webkit", "b")}</testsuites>`);
    expect(cases.map(({ variant }) => variant)).toEqual(["chromium", "firefox", "webkit"]);
  });

  test("is else that of a machine, and left out", () => {
    const { cases } = reading(`<testsuites>${run("vm1")}${run("vm1")}${run("vm2", "b")}</testsuites>`);
    expect(cases.map(({ variant }) => variant)).toEqual(["", "", ""]);
  });
});

describe("times", () => {
  test.each([
    ["1.5", 1500],
    ["0", 0],
    [".25", 250],
    ["1e-3", 1],
    [" 2 ", 2000],
    ["0.00267131", 2.671],
    ["1,234.5", null],
    ["0,5", null],
    ["", null],
    ["NaN", null],
    ["-1", null],
    ["Infinity", null],
    ["1e999", null],
    ["0x10", null],
    ["1s", null],
  ])("%j is %j ms", (time, durationMs) => {
    expect(onlyCase(suite(`<testcase name="a" time="${time}"/>`)).durationMs).toBe(durationMs);
  });

  test("that are no numbers are one issue, and missing ones are none", () => {
    const report = reading(
      suite(`<testcase name="a"/><testcase name="b" time=""/><testcase name="c" time="1,0"/><testcase time="NaN"/>`),
    );
    expect(messages(report)).toEqual(["A time is not a plain number of seconds: such durations are unknown."]);
  });

  test.each([
    ["2026-11-21T08:13:02Z", "2026-11-21T08:13:02.000Z"],
    ["2026-11-21T08:13:02.123456", "2026-11-21T08:13:02.123Z"],
    ["2026-11-21 08:13:02+0200", "2026-11-21T06:13:02.000Z"],
    ["2026-11-21T08:13:02-05:00", "2026-11-21T13:13:02.000Z"],
    ["1970-01-01T00:00:00", null],
    ["2026-13-45T08:00:00", null],
    ["Sat, 21 Nov 2026 08:11:18 GMT", null],
    ["", null],
  ])("the timestamp %j is %j", (timestamp, at) => {
    const { startedAt } = reading(suite("", `name="s" timestamp="${timestamp}"`));
    expect(startedAt).toBe(at === null ? null : Date.parse(at));
  });

  test("the report begins with its earliest suite", () => {
    const at = (day: string): string => suite("", `timestamp="2026-11-${day}T00:00:00Z"`);
    expect(reading(`<testsuites>${at("05")}${at("03")}${at("04")}</testsuites>`).startedAt).toBe(
      Date.parse("2026-11-03"),
    );
  });
});

describe("XML as it is written elsewhere", () => {
  test.each([
    `<TESTSUITE NAME="s"><TESTCASE NAME="a" CLASSNAME="C"><FAILURE MESSAGE="m"/></TESTCASE></TESTSUITE>`,
    `<j:testsuite xmlns:j="urn:x" name="s"><j:testcase name="a" classname="C"><j:failure message="m"/></j:testcase></j:testsuite>`,
    `<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="x.xsd" name="s"><?note x?><testcase name="a" className="C" assertions="1"><!-- c --><failure message="m"/></testcase></testsuite>`,
    `<report><testsuites><wrapper><testsuite name="s"><testcase j:name="b" name="a" classname="C"><failure message="m"/></testcase></testsuite></wrapper></testsuites></report>`,
  ])("%s", (xml) => {
    const isReport = xml.startsWith("<report>");
    const one = onlyCase(isReport ? xml.replaceAll("report>", "results>") : xml);
    expect(one).toMatchObject({ name: "a", classname: "C", parent: "s", outcome: "FAILED" });
    expect(one.attempts[0]?.failure?.message).toBe("m");
  });

  test("a failure's text comes of text, of CDATA, and of both", () => {
    const text = (inner: string): string | null | undefined =>
      onlyCase(suite(`<testcase name="a"><failure>${inner}</failure></testcase>`)).attempts[0]?.failure?.text;
    expect(text("a &lt;b&gt; &amp;&#x41;&#10;c")).toBe("a <b> &A\nc");
    expect(text("<![CDATA[<x> & ]]>]]&gt;<![CDATA[ y]]>")).toBe("<x> & ]]> y");
    expect(text(" \n ")).toBeNull();
  });

  test("a case within what a test printed is no case", () => {
    expect(
      reading(suite(`<testcase name="a"><system-out><testcase name="b"/></system-out></testcase>`)).counts,
    ).toEqual(counted(1));
  });
});
