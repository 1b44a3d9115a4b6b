import { describe, expect, it } from "vitest";
import { epochMs } from "../../../shared/kernel/time.ts";
import { aFailure, aPass, day, hour, judged, only, runs } from "./fixture.ts";

const rules = only("shortEpisodes");
const after = (text: string, previous: "HEALTHY" | "FLAKY" | "BROKEN" = "HEALTHY") =>
  judged(runs(text), hour(text.length), { rules, previous });
const withMin = (countMin: number) => ({ ...rules, shortEpisodes: { ...rules.shortEpisodes, countMin } });

describe("a test that fails for a commit or two and then passes", () => {
  it.each([
    ["F.", "HEALTHY", "the first run that is known failed"],
    [".F.", "HEALTHY", "once"],
    [".F.F.", "HEALTHY", "twice, which counts a little less than 2"],
    [".F.F.F.", "FLAKY", "three times"],
    [".FF.FF.FF.", "FLAKY", "two commits each"],
    [".FFF.FFF.FFF.", "HEALTHY", "three commits each: broken and mended"],
    [".F.F.F", "HEALTHY", "the last one is not over"],
    [".F.F.F.", "FLAKY", "it is"],
    [".R.R.R.", "HEALTHY", "failures that retries took back are for the other rule"],
    [".FR.FR.F.", "FLAKY", "a commit with a retry that passed has passed"],
    [". F  . F . F  .", "FLAKY", "commits in which it was not run neither end nor lengthen one"],
  ])("%s is %s: %s", (text, status) => {
    expect(after(text).status).toBe(status);
  });

  it("is told with its numbers", () => {
    const verdict = after(".F.FF.F.");
    expect(verdict.reason).toMatch(
      /^failed for at most 2 commits and then passed, 3 times, which count as 3\.0 with a half-life of 14 days, latest at /u,
    );
    expect(verdict.evidence.map((one) => one.at)).toEqual([hour(7), hour(5), hour(2)]);
    expect(verdict.evidence[1]?.what).toMatch(/^failed on 2 commits from .* and then passed$/u);
  });

  it("several runs of one commit are one commit, and a pass of one of them is a pass", () => {
    const failing = (at: number, sha: string) => [aFailure(hour(at), { sha }), aFailure(hour(at + 0.2), { sha })];
    const three = [1, 3, 5].flatMap((at) => [...failing(at, `bad${at}`), aPass(hour(at + 1))]);
    expect(judged([aPass(hour(0)), ...three], hour(7), { rules }).status).toBe("FLAKY");
    const rerun = aPass(hour(6.5), { sha: "bad3" });
    expect(judged([aPass(hour(0)), ...three, rerun], hour(7), { rules }).status).toBe("HEALTHY");
  });

  it("a commit stands where it first ran: a re-run of an old one that fails begins no episode", () => {
    const history = [
      ...runs(".F.F."),
      aPass(hour(5), { sha: "old" }),
      aPass(hour(6)),
      aFailure(hour(7), { sha: "old" }),
      aPass(hour(8)),
    ];
    expect(judged(history, hour(9), { rules }).status).toBe("HEALTHY");
  });

  it("branches are looked at one by one, the default one alone unless said otherwise", () => {
    const both = [...runs(".F.F.F."), ...runs("F.F.F.F", 0.5, { branch: "release/2", isDefaultBranch: false })];
    expect(judged(both, hour(8), { rules }).status).toBe("FLAKY");
    const elsewhere = runs(".F.F.F.", 0, { branch: "release/2", isDefaultBranch: false });
    expect(judged(elsewhere, hour(8), { rules }).status).toBe("HEALTHY");
    const wide = { ...rules, shortEpisodes: { ...rules.shortEpisodes, branches: [":default", "release/*"] } };
    expect(judged(elsewhere, hour(8), { rules: wide }).status).toBe("FLAKY");
    // In between, passes of one branch would end the failures of the other.
    const broken = [...runs(" F F F F"), ...runs(". . . . ", 0, { branch: "release/2", isDefaultBranch: false })];
    expect(judged(broken, hour(8), { rules: wide }).status).toBe("HEALTHY");
  });
});

describe("runs that lie close together have no certain order", () => {
  /** One run each so many minutes. */
  const every = (minutes: number, text: string) =>
    Array.from(text).map((kind, at) => (kind === "F" ? aFailure : aPass)(hour((at * minutes) / 60)));
  const status = (minutes: number, text: string) =>
    judged(every(minutes, text), hour((minutes * text.length) / 60), { rules }).status;

  it("a pass divides failures if it is more than 20 minutes from both", () => {
    expect(status(20, ".F.F.F.")).toBe("HEALTHY");
    expect(status(20.001, ".F.F.F.")).toBe("FLAKY");
    expect(status(10, "...F.....F.....F...")).toBe("FLAKY");
    expect(status(10, "...F....F....F...")).toBe("HEALTHY");
  });

  it("so a break is one although passes of its neighbours come in among its failures", () => {
    const broken = every(10, "...F.FFFF.F.....F...");
    expect(judged(broken, hour(4), { rules: withMin(0.9) }).evidence.map((one) => one.at)).toEqual([hour(19 / 6)]);
  });

  it("an episode is over with the first pass that is clear of it", () => {
    const history = [aPass(hour(0)), aFailure(hour(1)), aPass(hour(1.2)), aPass(hour(1.4)), aPass(hour(1.6))];
    expect(judged(history, hour(1.3), { rules: withMin(1) }).status).toBe("HEALTHY");
    expect(judged(history, hour(2), { rules: withMin(0.9) }).evidence.map((one) => one.at)).toEqual([hour(1.4)]);
  });
});

describe("its count halves in fourteen days", () => {
  it("to the millisecond", () => {
    const history = [...runs(".F."), aFailure(hour(14 * 24 + 1)), aPass(hour(14 * 24 + 2))];
    const now = hour(14 * 24 + 2);
    expect(judged(history, now, { rules: withMin(1.5) }).status).toBe("FLAKY");
    expect(judged(history, epochMs(now + 1), { rules: withMin(1.5) }).status).toBe("HEALTHY");
    expect(judged(history, now, { rules: withMin(1.500_001) }).status).toBe("HEALTHY");
  });

  it("what is FLAKY stays so down to half of what it took", () => {
    const history = runs(".F.");
    expect(judged(history, hour(2), { rules: withMin(1) }).revisitAt).toBe(epochMs(hour(2) + (day(14) - day(0)) + 1));
    expect(judged(history, hour(14 * 24 + 2), { rules: withMin(1), previous: "FLAKY" }).status).toBe("FLAKY");
    expect(judged(history, epochMs(hour(14 * 24 + 2) + 1), { rules: withMin(1), previous: "FLAKY" }).status).toBe(
      "HEALTHY",
    );
    expect(judged(history, hour(14 * 24), { rules: withMin(1), previous: "BROKEN" }).status).toBe("HEALTHY");
  });

  it("nothing that never was one is kept", () => {
    expect(judged(runs("...."), hour(4), { rules: withMin(0), previous: "FLAKY" }).evidence).toEqual([]);
    expect(judged(runs("...."), hour(4), { rules, previous: "FLAKY" }).status).toBe("HEALTHY");
  });
});
