import { describe, expect, it } from "vitest";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { Observation } from "../../../shared/test-health/detect/history.ts";
import { DEFAULT_RULES } from "../../../shared/test-health/detect/rules.ts";
import { aFailure, aPass, aRetriedRun, day, hour, judged, only } from "./fixture.ts";

const rules = only("sameCommit");
const statusOf = (
  history: readonly Observation[],
  now = hour(1),
  previous: "HEALTHY" | "FLAKY" | "BROKEN" = "HEALTHY",
) => judged(history, now, { rules, previous }).status;

describe("a test that passed and failed on one commit", () => {
  const one = aRetriedRun(hour(0), { sha: "4f2a1b9c0d" });
  const other = aRetriedRun(hour(0.5), { sha: "77aa" });

  it("is FLAKY on the second such commit, not on the first", () => {
    expect(statusOf([one])).toBe("HEALTHY");
    expect(statusOf([one, other])).toBe("FLAKY");
  });

  it("says on how many commits, and the latest", () => {
    const verdict = judged([one, other, aRetriedRun(hour(0.7), { sha: "4f2a1b9c0d" })], hour(1), { rules });
    expect(verdict.reason).toBe("passed and failed on 2 commits in the last 7 days, latest at 4f2a1b9");
    expect(verdict.rules).toEqual(["same-commit"]);
    expect(verdict.evidence.map(({ sha, what, uploads }) => [sha, what, uploads.length])).toEqual([
      ["4f2a1b9c0d", "failed 2 times and passed 2 times on 4f2a1b9", 2],
      ["77aa", "failed 1 time and passed 1 time on 77aa", 1],
    ]);
  });

  it("may have done so in two uploads, on different branches", () => {
    const both = (sha: string, at: number) => [
      aFailure(hour(at), { sha, branch: "pr/1" }),
      aPass(hour(at + 0.1), { sha, branch: "queue/1" }),
    ];
    expect(statusOf([...both("a", 0), ...both("b", 0.3)])).toBe("FLAKY");
  });

  it("counts a commit once, on however many branches it stands", () => {
    const branches = ["pr/1", "pr/2", "queue/1", "main"];
    expect(statusOf(branches.map((branch, at) => aRetriedRun(hour(at / 10), { sha: "same", branch })))).toBe("HEALTHY");
  });

  it("is not one that only fails, or fails on one commit and passes on the next", () => {
    expect(statusOf([aFailure(hour(0), { failed: 3 }), aPass(hour(0.2)), aFailure(hour(0.3)), aPass(hour(0.4))])).toBe(
      "HEALTHY",
    );
  });
});

describe("the window of seven days", () => {
  const justIn = epochMs(day(7) - 1);

  it("holds a commit up to its last millisecond", () => {
    const history = [aRetriedRun(day(0)), aRetriedRun(day(6))];
    expect([statusOf(history, justIn), statusOf(history, day(7))]).toEqual(["FLAKY", "HEALTHY"]);
  });

  it("needs the pass as well as the failure: a pass after eight days tells nothing", () => {
    const late = (sha: string) => [aFailure(day(0), { sha }), aPass(day(8), { sha })];
    expect(statusOf([...late("a"), ...late("b")], day(8))).toBe("HEALTHY");
    const inTime = (sha: string) => [aFailure(day(2), { sha }), aPass(day(8), { sha })];
    expect(statusOf([...inTime("a"), ...inTime("b")], day(8))).toBe("FLAKY");
    expect(statusOf([...inTime("a"), ...inTime("b")], day(9))).toBe("HEALTHY");
  });

  it("keeps what is FLAKY so for as long as one such commit is in it, and says when that ends", () => {
    const history = [aRetriedRun(day(0)), aRetriedRun(day(6))];
    expect(judged(history, day(6), { rules }).revisitAt).toBe(day(13));
    expect(statusOf(history, epochMs(day(13) - 1), "FLAKY")).toBe("FLAKY");
    expect(statusOf(history, day(13), "FLAKY")).toBe("HEALTHY");
    expect(judged(history, day(8), { rules, previous: "FLAKY" }).reason).toMatch(
      /^not cleared yet: passed and failed on 1 commit /u,
    );
  });

  it("what was BROKEN becomes FLAKY only on commits enough for that", () => {
    expect(statusOf([aRetriedRun(day(6))], day(7), "BROKEN")).toBe("HEALTHY");
  });
});

describe("settings", () => {
  it("another number of commits, another window, other branches, off", () => {
    const history = [aRetriedRun(day(0), { branch: "pr/1" }), aRetriedRun(day(1), { branch: "release/2" })];
    const status = (change: Partial<typeof rules.sameCommit>) =>
      judged(history, day(2), { rules: { ...rules, sameCommit: { ...rules.sameCommit, ...change } } }).status;
    expect(status({})).toBe("FLAKY");
    expect(status({ commitsMin: 3 })).toBe("HEALTHY");
    expect(status({ windowDays: 2 })).toBe("HEALTHY");
    expect(status({ branches: ["release/*"] })).toBe("HEALTHY");
    expect(status({ branches: ["release/*"], commitsMin: 1 })).toBe("FLAKY");
    expect(status({ branches: [":default"], commitsMin: 1 })).toBe("HEALTHY");
    expect(status({ isOn: false })).toBe("HEALTHY");
  });

  it("are plain data", () => {
    expect(JSON.parse(JSON.stringify(DEFAULT_RULES))).toEqual(DEFAULT_RULES);
  });
});
