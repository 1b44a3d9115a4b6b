import { describe, expect, it } from "vitest";
import { epochMs, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { judgeOutage, outagesIn } from "../../../shared/test-health/app/outages.ts";
import type { UploadEntry } from "../../../shared/test-health/app/ports.ts";

const START = 1_700_000_000_000;

const upload = (number: number, change: Partial<UploadEntry> = {}): UploadEntry => ({
  id: `u${number}`,
  sha: `c${number}`,
  branch: "main",
  job: "unit",
  at: epochMs(START + number * 10 * MINUTE_MS),
  testRun: null,
  receivedAt: epochMs(START + number * 10 * MINUTE_MS),
  isDefaultBranch: true,
  executed: "set",
  tests: 100,
  failed: 1,
  failing: 1,
  isOutage: false,
  isCommitOutage: false,
  ...change,
});

/** Enough to know what is normal. */
const usual = (change: Partial<UploadEntry> = {}): readonly UploadEntry[] =>
  Array.from({ length: 8 }, (_, at) => upload(at, { ...change, id: `${change.job}${at}` }));

describe("an outage", () => {
  it("is an upload of which far more fails than its job normally has failing", () => {
    expect(judgeOutage(upload(20, { failed: 60 }), usual())).toMatchObject({ isOutage: true, isCommitOutage: true });
    expect(judgeOutage(upload(20, { failed: 3 }), usual())).toMatchObject({ isOutage: false, isCommitOutage: false });
  });

  it("is judged among those of its job and kind of branch alone", () => {
    const redOnBranches = usual({ isDefaultBranch: false, failed: 50 });
    expect(judgeOutage(upload(20, { failed: 60 }), [...usual(), ...redOnBranches]).isOutage).toBe(true);
    expect(judgeOutage(upload(20, { failed: 60, job: "new" }), usual()).isOutage).toBe(false);
    expect(judgeOutage(upload(20, { failed: 60, testRun: "q-1" }), usual()).isOutage).toBe(false);
  });

  it("of a commit holds for all of its uploads, those of a job that is always partly red as well", () => {
    const before = [...usual({ job: "unit" }), ...usual({ job: "red", failed: 10 })];
    const red = judgeOutage(upload(20, { id: "red", job: "red", failed: 60 }), before);
    expect(red.isOutage).toBe(false);
    const unit = judgeOutage(upload(20, { id: "unit", failed: 90 }), [...before, red]);
    expect([unit.isOutage, unit.isCommitOutage]).toEqual([true, true]);
    const feedsNoRule = outagesIn([...before, red, unit]);
    expect([red, unit, before[0]].map((one) => one !== undefined && feedsNoRule(one))).toEqual([true, true, false]);
  });
});
