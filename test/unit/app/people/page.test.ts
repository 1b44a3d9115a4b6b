import { describe, expect, test } from "vitest";
import { commitSha, runId } from "../../../../shared/kernel/ids.ts";
import { epochMs } from "../../../../shared/kernel/time.ts";
import { answerOf, pageOf, pageOfStranger, type Shown } from "../../../../shared/queue/app/people/page.ts";
import { STATE_LABELS, WORDS } from "../../../../shared/queue/app/people/page-words.ts";
import type { SettingsPatch } from "../../../../shared/queue/app/settings.ts";
import type { Blocker } from "../../../../shared/queue/engine/telling.ts";
import {
  type Entry,
  ENTRY_STATES,
  type EntryState,
  type Move,
  type PullRequestFacts,
} from "../../../../shared/queue/engine/types.ts";
import { resolveSettings } from "../../../../shared/schemas/queue-settings.ts";
import { anEntry } from "../fixture.ts";

const AT = epochMs(Date.UTC(2026, 10, 21, 23, 25));
const TEST_URL = "https://github.com/acme/app/pull/7";

type Wishes = {
  readonly entry?: Partial<Entry>;
  readonly blockers?: readonly Blocker[];
  readonly waitsFor?: readonly string[];
  readonly helps?: readonly string[];
  readonly message?: string;
  readonly settings?: SettingsPatch;
  readonly failed?: readonly { readonly context: string; readonly url: string | null; readonly description?: string }[];
  readonly branch?: string;
  readonly testUrl?: string | null;
  readonly said?: string;
};

function shownIn(state: EntryState, wishes: Wishes = {}): Shown {
  const { blockers = [], waitsFor = [], helps = [], message = "it moved", branch = "main", testUrl = null } = wishes;
  const entry = anEntry(5, { state, ...wishes.entry });
  const move: Move = {
    entry: entry.id,
    prNumber: 5,
    number: 0,
    from: null,
    to: state,
    reason: "SUBMITTED",
    message,
    cause: "queue",
    run: null,
    at: AT,
  };
  const statuses = (wishes.failed ?? []).map((one) => ({ description: null, state: "FAILURE" as const, ...one }));
  return {
    branch,
    settings: { ...resolveSettings({}), ...wishes.settings } as Shown["settings"],
    told: {
      position: 3,
      summary: "PR #5 is somewhere.",
      blockers,
      waitsFor,
      whatWouldMoveIt: helps,
      entry,
      timeline: [move],
      failedRun: wishes.failed === undefined ? undefined : { id: "r1", statuses },
    },
    testUrl,
    said: wishes.said ?? null,
  };
}

const commentIn = (state: EntryState, wishes?: Wishes): string => pageOf(shownIn(state, wishes)).comment ?? "";
const text = (...lines: readonly string[]): string => lines.join("\n");

const LIVE =
  "<sub>Commands, in a comment of their own: `/why`, `/cancel`, `/restart`, `/merge --priority=urgent`.</sub>";
const ENDED = "<sub>Commands, in a comment of their own: `/why`, `/merge`.</sub>";
const happened = (what: string): string =>
  text("<details><summary>What happened</summary>", "", `- 2026-11-21 23:25 UTC, ${what}`, "", "</details>");

describe("the comment", () => {
  test("of one that is not ready says what is missing, and what helps", () => {
    const blockers = [
      { kind: "DRAFT", message: "it is a draft: mark it ready for review", prNumber: null },
      { kind: "NOT_MERGEABLE", message: "it conflicts with main: both change a_b.txt", prNumber: null },
    ];
    expect(commentIn("NOT_READY", { blockers, helps: ["mending what is missing"], message: "submitted by ada" })).toBe(
      text(
        "**Not ready yet** · merge queue of `main`",
        "",
        "Submitted by ada. It is admitted by itself as soon as nothing is missing.",
        "",
        "What is missing:",
        "",
        "- it is a draft: mark it ready for review",
        String.raw`- it conflicts with main: both change a\_b.txt`,
        "",
        "What helps: mending what is missing.",
        "",
        happened("not ready yet: submitted by ada"),
        "",
        LIVE,
      ),
    );
  });

  test("of one that waits says for what, as far as that lasts", () => {
    const blockers = [
      { kind: "SLOTS", message: "all 5 testing slots are in use by PR #1", prNumber: 1 },
      { kind: "UNDECIDED_PREDECESSORS", message: "a test now would be needed in 12 of 100 cases", prNumber: 1 },
      { kind: "START", message: "its test starts in a moment", prNumber: null },
    ];
    expect(commentIn("PENDING", { blockers, message: "ready and admitted to the queue" })).toBe(
      text(
        "**Waits to be tested** · merge queue of `main`",
        "",
        "Ready and admitted to the queue. It is tested when its turn comes.",
        "",
        "When this was written, it waited for this:",
        "",
        "- all 5 testing slots are in use by PR #\u200B1",
        "",
        happened("waits to be tested: ready and admitted to the queue"),
        "",
        LIVE,
      ),
    );
  });

  test("of one that is being tested says what has to pass and where that can be looked at", () => {
    const blockers = [{ kind: "TESTS", message: "unit, lint must pass in test run q1-1", prNumber: null }];
    expect(
      commentIn("TESTING", { blockers, waitsFor: ["unit", "lint"], testUrl: TEST_URL, message: "tested in q1-1" }),
    ).toBe(
      text(
        "**Being tested** · merge queue of `main`",
        "",
        "Tested in q1-1. If that passes, it lands after those ahead of it.",
        "",
        `[Its test](<${TEST_URL}>) can be looked at.`,
        "",
        "What has to pass: `unit`, `lint`.",
        "",
        happened("being tested: tested in q1-1"),
        "",
        LIVE,
      ),
    );
  });

  test("of one that has passed says whom it waits for", () => {
    const blockers = [{ kind: "PREDECESSOR", message: "PR #3, which is being tested, is ahead of it", prNumber: 3 }];
    expect(commentIn("TESTS_PASSED", { blockers, message: "all required statuses passed" })).toBe(
      text(
        "**Passed, and waits to land** · merge queue of `main`",
        "",
        "All required statuses passed. It lands when those ahead of it have landed, or have left the queue.",
        "",
        "When this was written, it waited for this:",
        "",
        "- PR #\u200B3, which is being tested, is ahead of it",
        "",
        happened("passed, and waits to land: all required statuses passed"),
        "",
        LIVE,
      ),
    );
  });

  test("of one that has failed and is not judged says what is still open", () => {
    expect(commentIn("PENDING_FAILURE", { message: "unit failed" })).toBe(
      text(
        "**Failed, and is not judged yet** · merge queue of `main`",
        "",
        "Unit failed. Whether the failure is its own shows when those ahead of it are settled and what failed has run again.",
        "",
        happened("failed, and is not judged yet: unit failed"),
        "",
        LIVE,
      ),
    );
  });

  test("of one that is merged names the commit, and offers nothing", () => {
    const conclusion = { reason: "MERGED", message: "merged into main as 0123456789ab" } as const;
    expect(commentIn("MERGED", { entry: { conclusion }, testUrl: TEST_URL, message: conclusion.message })).toBe(
      text(
        "**Merged** · merge queue of `main`",
        "",
        "Merged into main as 0123456789ab.",
        "",
        `[Its test](<${TEST_URL}>) can be looked at.`,
        "",
        happened("merged: merged into main as 0123456789ab"),
      ),
    );
  });

  test("of one that failed names the checks, leads to them, and says what to do", () => {
    const conclusion = { reason: "TESTS_FAILED", message: "unit failed" } as const;
    const failed = [
      { context: "unit", url: "https://ci.example/1", description: "3 of 9 failed" },
      { context: "lint", url: null },
    ];
    expect(commentIn("FAILED", { entry: { conclusion }, failed, message: "unit failed" })).toBe(
      text(
        "**Failed, and was not merged** · merge queue of `main`",
        "",
        "Unit failed.",
        "",
        "What failed:",
        "",
        "- [`unit`](<https://ci.example/1>): 3 of 9 failed",
        "- `lint`",
        "",
        "Mend it, or where it failed by chance, submit it again: comment `/merge`.",
        "",
        happened("failed, and was not merged: unit failed"),
        "",
        ENDED,
      ),
    );
  });

  test("of one that was cancelled says by whom, and how it comes back", () => {
    const conclusion = { reason: "CANCELLED_BY_USER", message: "cancelled by ada" } as const;
    expect(commentIn("CANCELLED", { entry: { conclusion }, message: "cancelled by ada" })).toBe(
      text(
        "**Cancelled, and was not merged** · merge queue of `main`",
        "",
        "Cancelled by ada.",
        "",
        "It can be submitted again: comment `/merge`.",
        "",
        happened("cancelled, and was not merged: cancelled by ada"),
        "",
        ENDED,
      ),
    );
  });

  test("says that one is urgent while that matters", () => {
    const entry = { priority: { value: 0, byDefault: false } };
    expect(commentIn("PENDING", { entry })).toContain("It is urgent.");
    expect(commentIn("MERGED", { entry })).not.toContain("urgent");
  });

  test("names no commands where there are none", () => {
    const settings = { commandsEnabled: false };
    for (const state of ENTRY_STATES) expect(commentIn(state, { settings })).not.toContain("/merge");
  });

  test("tells what could not be done for whoever asked", () => {
    expect(commentIn("MERGED", { said: "PR #5 is merged @all" })).toContain(
      "**Not done:** PR #\u200B5 is merged @\u200Ball\n",
    );
    const stranger = pageOfStranger("main", "no", resolveSettings({}));
    expect(stranger).toMatchObject({ comment: expect.stringContaining("**Not done:** no"), check: null });
    expect(pageOfStranger("main", null, resolveSettings({})).comment).toBeNull();
  });

  test("tells no position, which changes without a move", () => {
    for (const state of ENTRY_STATES) expect(`${commentIn(state)}${answerOf(shownIn(state))}`).not.toMatch(/\b3\b/u);
  });

  test("is short enough for GitHub, whatever people write, and has none of it as markdown", () => {
    const evil = "@team `x` <!-- a --> [b](http://c.example) </details>\n# d ".repeat(200);
    const failed = Array.from({ length: 500 }, () => ({
      context: evil,
      url: `https://ci.example/${evil}`,
      description: evil,
    }));
    const blockers = Array.from({ length: 500 }, () => ({ kind: "SLOTS", message: evil, prNumber: null }));
    const conclusion = { reason: "TESTS_FAILED", message: evil } as const;
    const wishes = {
      entry: { conclusion },
      failed,
      blockers,
      branch: evil,
      waitsFor: [evil],
      message: evil,
      said: evil,
    };
    for (const state of ENTRY_STATES) {
      const { comment, check } = pageOf(shownIn(state, wishes));
      expect((comment ?? "").length).toBeLessThan(60_000);
      expect((check?.summary ?? "").length).toBeLessThan(60_000);
      const bare = (comment ?? "").replaceAll(/`[^`\n]*`/gu, "");
      expect(bare).not.toMatch(/@[a-z]|^#|(?<!\\)<!--|:\/\/c\.example/mu);
      expect(bare.match(/(?<!\\)<\/details>/gu)).toHaveLength(1);
    }
  });
});

describe("the check", () => {
  test.each([
    ["NOT_READY", "QUEUED"],
    ["PENDING", "QUEUED"],
    ["TESTING", "IN_PROGRESS"],
    ["TESTS_PASSED", "IN_PROGRESS"],
    ["PENDING_FAILURE", "IN_PROGRESS"],
    ["MERGED", "SUCCESS"],
    ["FAILED", "FAILURE"],
    ["CANCELLED", "NEUTRAL"],
  ] as const)("of one that is %s is %s", (state, check) => {
    const page = pageOf(shownIn(state, { testUrl: TEST_URL }));
    expect(page.check).toMatchObject({
      name: "Mainline (main)",
      state: check,
      title: WORDS[state].title,
      url: TEST_URL,
    });
    expect(page.headSha).toBe(commitSha("a".repeat(40)));
  });

  test("of one that failed names what failed, on one line", () => {
    const failed = [
      { context: "unit\n@all", url: null },
      { context: "lint", url: null },
    ];
    expect(pageOf(shownIn("FAILED", { failed })).check?.title).toBe("Failed: unit @all, lint");
  });
});

describe("labels", () => {
  const settings = { stateLabelsEnabled: true, labelCommandsEnabled: true, enqueueingLabel: "queue it" };
  const labelsIn = (state: EntryState, wishes: Wishes = { settings }) => pageOf(shownIn(state, wishes)).labels;

  test.each(ENTRY_STATES)("of one that is %s is that state's alone", (state) => {
    expect(labelsIn(state).on).toEqual([WORDS[state].label]);
    expect(new Set(STATE_LABELS).size).toBe(ENTRY_STATES.length);
    expect(labelsIn(state).of).toEqual(expect.arrayContaining([...STATE_LABELS]));
  });

  test("that submits is taken off when the submission has ended, and not before", () => {
    for (const state of ENTRY_STATES)
      expect([state, labelsIn(state).of.includes("queue it")]).toEqual([
        state,
        state === "MERGED" || state === "FAILED" || state === "CANCELLED",
      ]);
  });

  test("are those of the queue of its base alone", () => {
    const pr = { baseBranch: "release" } as PullRequestFacts;
    expect(labelsIn("FAILED", { settings, entry: { pr } })).toEqual({ of: [], on: [] });
  });
});

describe("settings", () => {
  test("that are off make nothing", () => {
    const settings = { commentsEnabled: false, statusCheckEnabled: false };
    expect(pageOf(shownIn("TESTING", { settings, entry: { lastRun: runId("r1") } }))).toMatchObject({
      comment: null,
      check: null,
      labels: { of: [], on: [] },
    });
  });
});
