import { describe, expect, test } from "vitest";
import { testsOf } from "../../../shared/test-health/junit/tests.ts";
import { fixture, reading, suite } from "./reading.ts";

const testsIn = (xml: string) => testsOf(reading(xml).cases);

describe("tests of a file", () => {
  test("cases of one identity are one test with all attempts in order, and the outcome of the last", () => {
    const xml = suite(`<testcase name="a" time="1"><error/></testcase><testcase name="b"/>
      <testcase name="a" time="2"><flakyFailure/></testcase><testcase name="a"><skipped/></testcase>`);
    const [a, b, ...others] = testsIn(xml);
    expect(a).toMatchObject({ name: "a", outcome: "PASSED", durationMs: 3000 });
    expect(a?.attempts.map(({ outcome }) => outcome)).toEqual(["ERRORED", "FAILED", "PASSED"]);
    expect(b).toMatchObject({ name: "b", outcome: "PASSED", durationMs: null });
    expect(others).toEqual([]);
    expect(reading(xml).counts.tests).toBe(4);
  });

  test("is skipped where all its cases are", () => {
    const [one] = testsIn(suite(`<testcase name="a"><skipped/></testcase><testcase name="a" status="disabled"/>`));
    expect(one).toMatchObject({ outcome: "SKIPPED", attempts: [], durationMs: null });
  });

  test("every part of the identity tells tests apart", () => {
    const cases = [`name="a"`, `name="b"`, `name="a" classname="C"`, `name="a" file="f"`, `name="a" id="1"`];
    const all = cases.map((one) => `<testcase ${one}/>`).join("");
    expect(testsIn(`<testsuites>${suite(all)}${suite(all, `name="other"`)}</testsuites>`)).toHaveLength(10);
  });

  test("of several Playwright projects are told apart by them", () => {
    expect(testsOf(reading(fixture("playwright.xml")).cases)).toHaveLength(12);
  });

  test("fifty thousand cases of one test are merged at once", () => {
    const [one] = testsIn(suite(`<testcase name="a"/>`.repeat(50_000)));
    expect(one?.attempts).toHaveLength(50_000);
  });
});
