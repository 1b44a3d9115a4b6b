import { afterEach, describe, expect, it } from "vitest";
import { isOutdated, missingOf } from "../../../shared/queue/engine/readiness.ts";
import type { Entry, HostTrouble } from "../../../shared/queue/engine/types.ts";
import { targetsOf } from "../../support/laned-queue.ts";
import { aPullRequest, aQueue, aTip, sha, START } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const known = () => aQueue().opens().submits(1).entry(1);
const missing = (change: Partial<Entry>, state: Partial<Parameters<typeof missingOf>[0]> = {}) =>
  missingOf({ branch: "main", tip: aTip("T0"), mode: "SINGLE", ...state }, { ...known(), ...change });
const kinds = (...of: Parameters<typeof missing>) => missing(...of).map((one) => one.kind);
const trouble = (kind: HostTrouble["kind"]): HostTrouble => ({
  kind,
  what: "the words",
  count: 1,
  retryAt: START,
});

describe("what is missing", () => {
  it("is nothing where all is there", () => expect(missing({})).toEqual([]));

  it.each([
    ["the target has not been read", "TARGET_UNKNOWN", {}, { tip: null }],
    ["the base is another one", "BASE_BRANCH_DIFFERS", { pr: aPullRequest(1, { baseBranch: "next" }) }, {}],
    ["it is a draft", "DRAFT", { pr: aPullRequest(1, { draft: true }) }, {}],
    ["it cannot be merged", "NOT_MERGEABLE", { pr: aPullRequest(1, { mergeability: "NOT_MERGEABLE" }) }, {}],
    ["the host works it out", "MERGEABILITY_UNKNOWN", { pr: aPullRequest(1, { mergeability: "IN_PROGRESS" }) }, {}],
    ["targets", "NO_IMPACTED_TARGETS", {}, { mode: "PARALLEL" }],
    ["their comparison", "COMPARING_TARGETS", { targets: targetsOf("a") }, { mode: "PARALLEL" }],
  ] as const)("%s", (_, kind, entry, state) => {
    expect(kinds(entry, state)).toEqual([kind]);
  });

  it("is in the host's own words where it has some", () => {
    const pr = (mergeability: "NOT_MERGEABLE" | "IN_PROGRESS", obstacle: string | null) => ({
      pr: aPullRequest(1, { mergeability, obstacle }),
    });
    expect(missing(pr("NOT_MERGEABLE", "2 reviews"))[0]?.message).toBe("2 reviews");
    expect(missing(pr("IN_PROGRESS", "2 reviews"))[0]?.message).toBe("2 reviews");
    expect(missing(pr("NOT_MERGEABLE", null))[0]?.message).toBe("the code host says that it cannot be merged");
    expect(missing(pr("IN_PROGRESS", null))[0]?.message).toMatch(/still working out/u);
  });

  it("says how to mend another base", () => {
    expect(missing({ pr: aPullRequest(1, { baseBranch: "next" }) })[0]?.message).toBe(
      "its base branch is next: retarget it to main, or submit it to the queue of its base",
    );
  });

  it("of targets names the head, or that they are being computed", () => {
    const laned = { mode: "PARALLEL" } as const;
    const head = sha("0123456789abcdef");
    const mapped = { ...laned, tip: { ...aTip("T0"), targetsFromPaths: true } };
    expect(missing({ headSha: head }, laned)[0]?.message).toContain("the impacted targets of 0123456789ab:");
    expect(missing({ headSha: null }, laned)[0]?.message).toContain("the impacted targets of its head:");
    expect(missing({ headSha: head, computedFor: head }, laned)[0]?.message).toContain("nobody has sent");
    expect(missing({ headSha: head }, mapped)[0]?.message).toContain("nobody has sent");
    expect(missing({ headSha: head, computedFor: head }, mapped)[0]?.message).toBe(
      "the impacted targets of 0123456789ab are being computed from the paths that it changes",
    );
    expect(missing({ headSha: head, computedFor: head }, { ...laned, tip: null }).map((one) => one.kind)).toEqual([
      "TARGET_UNKNOWN",
      "NO_IMPACTED_TARGETS",
    ]);
  });

  it.each([
    [null, "HOST_UNREACHABLE", "the code host has not been asked yet"],
    [trouble("NOT_CONNECTED"), "HOST_NOT_CONNECTED", "the words"],
    [trouble("NOT_FOUND"), "UNKNOWN_PULL_REQUEST", "the words"],
    [trouble("UNREACHABLE"), "HOST_UNREACHABLE", "the code host does not answer (the words); it is asked again"],
  ])("before the host has answered: %o", (what, kind, message) => {
    expect(missing({ pr: null, trouble: what })).toEqual([{ kind, message }]);
  });

  it("is judged against the target as it was then", () => {
    const at = (tip: string | null, judgedOn: string | null) =>
      isOutdated(
        { branch: "main", mode: "SINGLE", tip: tip === null ? null : aTip(tip) },
        aPullRequest(1, { judgedOn: judgedOn === null ? null : sha(judgedOn) }),
      );
    expect([at("T1", "T0"), at("T0", "T0"), at("T0", null), at(null, "T0")]).toEqual([true, false, false, false]);
  });
});
