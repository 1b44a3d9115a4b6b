import { describe, expect, test } from "vitest";
import { parseStartArguments } from "../../../infra/local/start-arguments.ts";

describe("the arguments of npm start", () => {
  test("say how often it is looked whether anything was missed: every 10 seconds, or what is said", () => {
    expect(parseStartArguments([])["sweep-seconds"]).toBe(10);
    expect(parseStartArguments(["--sweep-seconds", "1"])["sweep-seconds"]).toBe(1);
    for (const wrong of ["0", "31", "1.5", "soon", "-1"])
      expect(() => parseStartArguments([`--sweep-seconds=${wrong}`])).toThrow("--sweep-seconds must be a number");
  });
});
