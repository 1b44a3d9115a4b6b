import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { refusal } from "./reading.ts";

const PROLOG = `<?xml version="1.0" encoding="utf-8"?>\n`;

describe("what is no JUnit is refused by name:", () => {
  test.each([
    ["", "The file is empty (0 bytes)"],
    [" \n\t\n", "nothing in the file but space"],
    ["\uFEFF", "nothing in the file but space"],
    [`<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>a<br>b</body></html>`, "HTML"],
    [`<HTML><body>502</body></HTML>`, "HTML"],
    [
      `${PROLOG}<test-run id="2" testcasecount="1"><test-suite><test-case name="a"/></test-suite></test-run>`,
      "NUnit 3",
    ],
    [`${PROLOG}<test-results name="x.dll" total="1"><test-suite/></test-results>`, "NUnit 2"],
    [
      `${PROLOG}<assemblies><assembly name="a.dll"><collection><test name="a" result="Pass"/></collection></assembly></assemblies>`,
      "xUnit",
    ],
    [`<assembly name="a.dll"><class><test name="a" result="Pass"/></class></assembly>`, "xUnit"],
    [
      `${PROLOG}<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results><UnitTestResult/></Results></TestRun>`,
      "TRX",
    ],
    [`${PROLOG}<testng-results><suite name="s"/></testng-results>`, "TestNG"],
    [
      `<Catch2TestRun name="c"><TestCase name="a"><OverallResult success="false"/></TestCase></Catch2TestRun>`,
      "Catch2",
    ],
    [`<TestLog><TestSuite name="s"><TestCase name="a"/></TestSuite></TestLog>`, "Boost"],
    [`<TestCase name="tst"><TestFunction name="a"><Incident type="fail"/></TestFunction></TestCase>`, "Qt"],
    [`<robot generator="Robot"><suite><test name="a"/></suite></robot>`, "Robot Framework"],
    [`${PROLOG}<coverage line-rate="1"><packages/></coverage>`, "coverage"],
    [`${PROLOG}<rss version="2.0"/>`, "begins with <rss>"],
    ["TAP version 13\n1..1\nok 1 - a\n", "TAP"],
    ["ok 1 - a <b>\n", "TAP"],
    [`{"testResults": []}`, "JSON"],
    ["Segmentation fault (core dumped)\n", `no XML: it begins with "Segmentation fault`],
    ["PK\u0003\u0004rest", "zip"],
  ])("%j", (text, words) => {
    expect(refusal(text)).toContain(words);
  });

  test("gzip that was not unpacked, and an image", () => {
    expect(refusal(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0))).toContain("gzip");
    expect(refusal(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0))).toContain("no XML");
  });

  test("a source file that is at hand", () => {
    expect(refusal(readFileSync(new URL(import.meta.url)))).toMatch(/no (?:JUnit )?XML|HTML/u);
  });
});
