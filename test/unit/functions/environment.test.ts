import { describe, expect, it } from "vitest";
import { BUCKET, GITHUB, readEnvironment, SCHEDULER, SERVICE, type Variables } from "../../../functions/environment.ts";

const GOOD = { MAINLINE_TABLE: "mainline-dev", MAINLINE_STAGE: "dev" };
const read = (variables: Variables) => readEnvironment(SERVICE, variables);

describe("a function's environment", () => {
  it("is read where it is whole, and logs information unless told otherwise", () => {
    expect(read(GOOD)).toEqual({ ...GOOD, MAINLINE_LOG_LEVEL: "INFO" });
    expect(read({ ...GOOD, MAINLINE_LOG_LEVEL: "WARN" }).MAINLINE_LOG_LEVEL).toBe("WARN");
  });

  it("that is wrong is told whole: every variable that is missing, and what the others must be", () => {
    const all = SERVICE.extend({ ...BUCKET.shape, ...GITHUB.shape, ...SCHEDULER.shape });
    const names = Object.keys(all.shape).filter((name) => !/LOG_LEVEL|ENDPOINT/u.test(name));
    expect(names.length).toBe(8);
    for (const name of names) expect(() => readEnvironment(all, {})).toThrow(`${name} is missing`);
    const message =
      /MAINLINE_TABLE is empty; MAINLINE_STAGE must be up to 20 .*; DYNAMODB_ENDPOINT must be an address/u;
    expect(() => read({ MAINLINE_TABLE: "", MAINLINE_STAGE: "Dev", DYNAMODB_ENDPOINT: "x" })).toThrow(message);
  });

  it("never repeats what a variable holds", () => {
    expect(() => read({ ...GOOD, MAINLINE_STAGE: "s3cret value" })).toThrow(/^(?!.*s3cret)/u);
  });
});
