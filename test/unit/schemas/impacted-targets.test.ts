import { describe, expect, it } from "vitest";
import { setImpactedTargets } from "../../../shared/schemas/pull-request.ts";

const REF = { repo: { host: "github.com", owner: "acme", name: "app" }, targetBranch: "main", pr: { number: "7" } };
const read = (more: object) => setImpactedTargets.safeParse({ ...REF, ...more });
const issuesOf = (impactedTargets: unknown) =>
  read({ impactedTargets }).error?.issues.map((issue) => [issue.path.join("."), issue.message]) ?? [];

describe("impacted targets", () => {
  it.each(["ALL", "all", "IMPACTS_ALL", "impacts_all"])("may be %s", (word) => {
    expect(read({ impactedTargets: word }).data?.impactedTargets).toBe("ALL");
  });

  it("may be none at all", () => {
    expect(read({ impactedTargets: [] }).data?.impactedTargets).toEqual([]);
  });

  it("may come twice", () => {
    expect(read({ impactedTargets: ["a", "a"] }).success).toBe(true);
  });

  it.each([["NONE"], [null], [{}], [7]])("cannot be %j", (sent) => {
    expect(issuesOf(sent)).toEqual([["impactedTargets", 'must be a list of strings, or "ALL"']]);
  });

  it("are non-empty, well-formed strings, and each that is not is named", () => {
    expect(issuesOf(["ok", "", 7, "\ud800", null]).map(([path]) => path)).toEqual([
      "impactedTargets.1",
      "impactedTargets.2",
      "impactedTargets.3",
      "impactedTargets.4",
    ]);
  });

  it("are at most 4 KiB of UTF-8 each", () => {
    expect(issuesOf(["x".repeat(4096), "ä".repeat(2048), "€".repeat(1365)])).toEqual([]);
    expect(issuesOf(["x".repeat(4097), "ä".repeat(2049), "€".repeat(1366)])).toHaveLength(3);
  });

  it("are named at most 20 times when all of them are wrong", () => {
    expect(issuesOf(Array.from({ length: 500_000 }, () => ""))).toHaveLength(20);
  });

  it("or an upload are sent, and not both", () => {
    expect(read({ uploadId: "u1" }).success).toBe(true);
    expect(read({}).success).toBe(false);
    expect(read({ uploadId: "u1", impactedTargets: [] }).success).toBe(false);
  });

  it("that are missing are told together with what else is wrong", () => {
    const issues = setImpactedTargets.safeParse({ ...REF, pr: { number: 0 } }).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join("."))).toEqual(["pr.number", "impactedTargets"]);
  });

  // What compares each with the others would not end.
  it("are read at a million, each once", () => {
    const impactedTargets = Array.from({ length: 1_000_000 }, (_, at) => `//app/target:${at}`);
    expect(read({ impactedTargets }).success).toBe(true);
  });
});
