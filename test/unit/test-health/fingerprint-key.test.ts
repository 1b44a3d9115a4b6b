import { describe, expect, test } from "vitest";
import { fingerprintKeyOf } from "../../../shared/test-health/app/fingerprint-key.ts";

describe("the key of a failure", () => {
  test("is the same for failures of one cause", () => {
    const one = fingerprintKeyOf({ type: "Error", message: null, text: "Error: took 5001ms at /tmp/a/x.ts:3:4" });
    const other = fingerprintKeyOf({ type: "Error", message: "m", text: "\nError: took 4.2s at C:\\b\\x.ts:9" });
    expect(one.summary).toBe("Error: took <duration> at x.ts:<line>");
    expect(other).toEqual(one);
  });

  test("is another for another cause", () => {
    const of = (text: string): string => fingerprintKeyOf({ type: "E", message: null, text }).key;
    expect(of("HTTP 500")).not.toBe(of("HTTP 404"));
  });

  test("stays what it is: stored keys are looked up by it", () => {
    expect(fingerprintKeyOf({ type: "E", message: "m", text: null })).toEqual({
      key: "48d826537d6448114eac3c955bafbfc9",
      summary: "m",
    });
    expect(fingerprintKeyOf({ type: null, message: null, text: null }).key).toMatch(/^[0-9a-f]{32}$/u);
  });
});
