import { existsSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Counts } from "../../../shared/test-health/junit/report.ts";
import { counted, issueOf, reading } from "./reading.ts";

const FOLDER = "/work/shared/data/junit";
const isThere = existsSync(`${FOLDER}/expected.json`);
if (!isThere) console.warn(`${FOLDER} is not there: its files are not read`);

const expectations = z.array(
  z.object({
    file: z.string(),
    tests: z.number().nullable(),
    failures: z.number().nullable(),
    errors: z.number().nullable(),
    skipped: z.number().nullable(),
  }),
);

/** The expectations look at elements alone and know well-formed files only; these differ from them, each for a reason. */
const EXCEPTIONS: Readonly<Record<string, { readonly counts: Counts; readonly because: string }>> = {
  "produced/ctest.xml": { counts: counted(6, 2, 0, 3), because: `one has status="disabled" and no element` },
  "produced/gtest.xml": { counts: counted(7, 2, 0, 2), because: `one has status="notrun" result="suppressed"` },
  "produced/gtest-repeat.xml": { counts: counted(7, 2, 0, 2), because: `one has status="notrun" result="suppressed"` },
  "publish-unit-test-result-action/tst/disabled.xml": {
    counts: counted(31, 19, 1, 5),
    because: `five have status="disabled" and no element`,
  },
  "publish-unit-test-result-action/pytest/corrupt-xml.xml": {
    counts: counted(2, 0, 0, 1),
    because: "it ends within its second case, which is being skipped",
  },
};

describe(`the files in ${FOLDER}`, () => {
  beforeEach((context) => context.skip(!isThere, `${FOLDER} is not there`));
  const expected = isThere ? expectations.parse(JSON.parse(readFileSync(`${FOLDER}/expected.json`, "utf8"))) : [];

  test("are all there", () => {
    expect(expected.length).toBeGreaterThan(40);
  });

  test.each(expected)("$file is counted as expected", ({ file, tests, failures, errors, skipped }) => {
    const { counts, cases } = reading(readFileSync(`${FOLDER}/${file}`));
    expect(counts).toEqual(EXCEPTIONS[file]?.counts ?? { tests, failures, errors, skipped });
    expect(cases).toHaveLength(counts.tests);
  });

  test("the one that is cut off says so", () => {
    const report = reading(readFileSync(`${FOLDER}/publish-unit-test-result-action/pytest/corrupt-xml.xml`));
    expect(issueOf(report, "The file ends within the case")).toMatchObject({ line: 11, column: 21 });
  });
});
