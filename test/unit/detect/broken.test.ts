import { describe, expect, it } from "vitest";
import { epochMs } from "../../../shared/kernel/time.ts";
import { aFailure, aPass, hour, judged, only, runs } from "./fixture.ts";

describe("the rate of failures", () => {
  const rules = only("failureRate");
  const after = (text: string, previous: "HEALTHY" | "FLAKY" | "BROKEN" = "HEALTHY") =>
    judged(runs(text), hour(text.length - 1), { rules, previous }).status;

  it.each([
    ["FFFFFFFFF", "HEALTHY", "nine runs are too few"],
    ["FFFFFFFFFF", "BROKEN", "ten are enough"],
    ["..FFFFFFFF", "BROKEN", "80 %"],
    ["...FFFFFFFFF", "HEALTHY", "75 %"],
    ["..RFFFFFFFFF", "HEALTHY", "a failure that a retry took back is none"],
    [".FFFFFFFF.FFFF.", "BROKEN", "although it passed last"],
  ])("%s is %s: %s", (text, status) => {
    expect(after(text)).toBe(status);
  });

  it("is of the last 24 hours: a run that is as old counts no more, and the rate may rise by that", () => {
    const history = runs("...FFFFFFFFF");
    const verdict = judged(history, hour(11), { rules });
    expect([verdict.status, verdict.revisitAt]).toEqual(["HEALTHY", hour(24)]);
    expect(judged(history, epochMs(hour(24) - 1), { rules }).status).toBe("HEALTHY");
    expect(judged(history, hour(24), { rules }).status).toBe("BROKEN");
  });

  it("is of the default branch", () => {
    expect(judged(runs("FFFFFFFFFF", 0, { branch: "pr/1", isDefaultBranch: false }), hour(10), { rules }).status).toBe(
      "HEALTHY",
    );
  });

  it("keeps BROKEN down to half of the threshold", () => {
    expect(after("..FFFFFFFF..........", "BROKEN")).toBe("BROKEN");
    expect(after("..FFFFFFFF...........", "BROKEN")).toBe("HEALTHY");
    expect(after("..FFFFFFFF..........", "HEALTHY")).toBe("HEALTHY");
    expect(after("FFFFFFFFFF.", "HEALTHY")).toBe("BROKEN");
    expect(after("FFFFFFFFFF...", "HEALTHY")).toBe("HEALTHY");
  });

  it("falls silent when the last run is 48 hours old", () => {
    const history = runs("FFFFFFFFFF");
    const verdict = judged(history, hour(9), { rules });
    expect([verdict.status, verdict.revisitAt]).toEqual(["BROKEN", hour(57)]);
    expect(judged(history, epochMs(hour(57) - 1), { rules, previous: "BROKEN" }).status).toBe("BROKEN");
    expect(judged(history, hour(57), { rules, previous: "BROKEN" }).status).toBe("HEALTHY");
  });

  it("does not keep what it did not say", () => {
    expect(after("FFFFF", "BROKEN")).toBe("HEALTHY");
    expect(after("FFFFFFFFFF", "FLAKY")).toBe("BROKEN");
  });

  it("is told with its numbers", () => {
    const verdict = judged(runs("..FFFFFFFF"), hour(9), { rules });
    expect(verdict.reason).toMatch(/^failed 8 of 10 runs in the last 24 hours \(80 %\), latest at /u);
    expect(verdict.evidence.map((one) => [one.at, one.uploads.length])).toEqual([[hour(9), 8]]);
  });
});

describe("a run of failures", () => {
  const rules = only("failureRun");
  const after = (text: string, previous: "HEALTHY" | "FLAKY" | "BROKEN" = "HEALTHY") =>
    judged(runs(text), hour(text.length), { rules, previous });

  it.each([
    ["FFFF", "HEALTHY"],
    ["FFFFF", "BROKEN"],
    [".FFFFF", "BROKEN"],
    ["FF FF F", "BROKEN"],
    ["FFFF.F", "HEALTHY"],
    ["FFFFFF.", "HEALTHY"],
    ["FFFFFFR", "HEALTHY"],
  ])("%s is %s", (text, status) => {
    expect(after(text).status).toBe(status);
  });

  it("is not ended by time", () => {
    const verdict = after("FFFFF");
    expect(verdict.revisitAt).toBeNull();
    expect(judged(runs("FFFFF"), hour(5000), { rules, previous: "BROKEN" }).status).toBe("BROKEN");
  });

  it("is ended by one pass, whatever else that day says", () => {
    expect(judged(runs("FFFFFFF."), hour(8), { previous: "BROKEN" }).status).toBe("HEALTHY");
  });

  it("is of one branch: passes elsewhere do not end it, failures elsewhere do not lengthen it", () => {
    const wide = { ...rules, failureRun: { ...rules.failureRun, branches: ["**"] } };
    const other = { branch: "release/2", isDefaultBranch: false };
    expect(judged([...runs("FFFFF"), ...runs(".....", 0.5, other)], hour(6), { rules: wide }).status).toBe("BROKEN");
    expect(judged([...runs("FFF"), ...runs("FFF", 0.5, other)], hour(6), { rules: wide }).status).toBe("HEALTHY");
  });

  it("is told with its numbers, and wins over FLAKY", () => {
    const flaky = [1, 2, 3].map((at) => aFailure(hour(at), { passed: 1 }));
    const verdict = judged([...flaky, ...runs("FFFFFF", 5)], hour(11));
    expect(verdict.status).toBe("BROKEN");
    expect(verdict.reason).toMatch(/^the last 6 runs on main failed, since c/u);
    expect(verdict.rules).toEqual(["failure-run"]);
    expect(verdict.evidence).toHaveLength(1);
    expect(judged([...flaky, ...runs("FFFFFF.", 5)], hour(12), { previous: "BROKEN" }).status).toBe("FLAKY");
  });
});

it("a change that was reverted at once breaks a test, and makes it neither FLAKY nor BROKEN", () => {
  const history = [aPass(hour(0)), aFailure(hour(1), { failed: 3 }), aPass(hour(2)), aPass(hour(3))];
  expect(judged(history, hour(4)).status).toBe("HEALTHY");
});
