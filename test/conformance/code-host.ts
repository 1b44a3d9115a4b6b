/**
 * What every code host promises to the queue. An adapter passes by giving a factory for a fixture: a connection to a
 * new, empty repository, and the few things that users of that host do to it.
 */
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { landingConformance } from "./landing.ts";
import { commitSha, entryId, type RepoKey, runId, type RunId, type CommitSha } from "../../shared/kernel/ids.ts";
import { epochMs } from "../../shared/kernel/time.ts";
import {
  type BuildRequest,
  type CodeHost,
  HostUnavailable,
  type LandRequest,
  type RunStatuses,
} from "../../shared/code-host/port.ts";
import type { Change, PullRequestFacts } from "../../shared/queue/engine/types.ts";

export type Files = Readonly<Record<string, string>>;

export type HostFixture = {
  readonly host: CodeHost;
  /** By squash and rebase the host makes the commits itself as it lands: of what was tested only the content is the same. */
  readonly makesCommits?: boolean;
  /** It cannot know that a required status will never come. */
  readonly awaitsWhatIsMissing?: boolean;
  readonly repo: RepoKey;
  /** Commits to a branch, as a push by hand. */
  readonly push: (branch: string, files: Files, message?: string) => Promise<CommitSha>;
  /** Opens or pushes to a pull request, with one commit on top of `on`; null removes a file. */
  readonly openPullRequest: (
    prNumber: number,
    on: CommitSha,
    files: Readonly<Record<string, string | null>>,
    title: string,
  ) => Promise<CommitSha>;
  /** Merges another commit into a pull request's head by hand, with these files as the outcome. */
  readonly updatePullRequest: (prNumber: number, on: CommitSha, from: CommitSha, files: Files) => Promise<CommitSha>;
  /** Has the checks of the head itself run, as a CI does on every push, and waits until all have passed. */
  readonly proveHead: (prNumber: number) => Promise<void>;
  readonly closePullRequest: (prNumber: number) => Promise<void>;
  readonly draftPullRequest: (prNumber: number) => Promise<void>;
  readonly retargetPullRequest: (prNumber: number, branch: string) => Promise<void>;
  readonly removeBranch: (branch: string) => Promise<void>;
  /** Merges a pull request into a branch by hand, outside the service. */
  readonly mergeByHand: (prNumber: number, branch: string) => Promise<CommitSha>;
  readonly branchExists: (branch: string) => Promise<boolean>;
  /** Files at the tip of a branch, without the configuration. */
  readonly filesAt: (branch: string) => Promise<Files>;
  /** Configuration with these checks, and with this mapping of targets to globs, as files of a commit. */
  readonly checks: (
    checks: Readonly<Record<string, "pass" | "fail" | "fail once" | "hang">>,
    targets?: Readonly<Record<string, readonly string[]>>,
  ) => Files;
  readonly dispose: () => Promise<void>;
};

export type Started = HostFixture & { readonly base: CommitSha };

/** What tests begin with. */
export type Given = {
  /** A host with these checks, and this mapping of targets, at the tip of `main`. */
  readonly start: (
    checks?: Parameters<HostFixture["checks"]>[0],
    targets?: Parameters<HostFixture["checks"]>[1],
  ) => Promise<Started>;
  readonly changeOf: (f: Started, prNumber: number) => Promise<Change>;
  /** A run of these pull requests on top of the first tip, or of another base. */
  readonly build: (
    f: Started,
    run: string,
    numbers: readonly number[],
    more?: Partial<BuildRequest>,
  ) => Promise<{ readonly request: BuildRequest; readonly answer: Awaited<ReturnType<CodeHost["buildRun"]>> }>;
  /** The landing of all that was built. */
  readonly landing: (request: BuildRequest, built: Awaited<ReturnType<CodeHost["buildRun"]>>) => LandRequest;
};

export function codeHostConformance(name: string, makeFixture: () => Promise<HostFixture>): void {
  describe(`${name} as a code host`, () => {
    let fixture: HostFixture | undefined;
    const start: Given["start"] = async (checks = { unit: "pass" }, targets) => {
      const made = await makeFixture();
      fixture = made;
      const base = await made.push("main", { "a.txt": "1\n2\n3\n", ...made.checks(checks, targets) }, "First");
      return { ...made, base };
    };
    afterEach(async () => {
      await fixture?.dispose();
      fixture = undefined;
    });

    const changeOf: Given["changeOf"] = async (f, prNumber) => {
      const facts = found(await f.host.pullRequest(f.repo, prNumber, "main"));
      const { headSha, title, author } = facts;
      return { entry: entryId(`e${prNumber}`), prNumber, headSha, title, author, date: epochMs(1_700_000_000_000) };
    };
    const build: Given["build"] = async (f, run, numbers, more = {}) => {
      const changes = await Promise.all(numbers.map((number) => changeOf(f, number)));
      const request: BuildRequest = {
        run: runId(run),
        repo: f.repo,
        branch: `mainline/pr-${numbers.at(-1) ?? 0}/${run}`,
        base: f.base,
        changes,
        mergeMethod: "MERGE_COMMIT",
        required: ["unit"],
        targetBranch: "main",
        ...more,
      };
      return { request, answer: await f.host.buildRun(request) };
    };
    const landing: Given["landing"] = (request, built) => {
      if (!built.ok) throw new Error(`not built: ${JSON.stringify(built.why)}`);
      const { run, repo, base, changes, mergeMethod } = request;
      return { run, repo, base, expectedTip: base, changes, mergeMethod, targetBranch: "main", ...built.value };
    };

    describe("a pull request", () => {
      test("is described by its ref, its tip commit, and a judgement against the target", async () => {
        const f = await start();
        const head = await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        expect(found(await f.host.pullRequest(f.repo, 1, "main"))).toMatchObject({
          number: 1,
          state: "OPEN",
          draft: false,
          title: "Add b",
          headSha: head,
          baseBranch: "main",
          fromFork: false,
          mergeability: "MERGEABLE",
          judgedOn: f.base,
          obstacle: null,
        });
      });

      test("that does not exist is not found", async () => {
        const f = await start();
        expect(await f.host.pullRequest(f.repo, 99, "main")).toBe("NOT_FOUND");
      });

      test("that conflicts with the tip is not mergeable, and the obstacle names the path", async () => {
        const f = await start();
        await f.openPullRequest(1, f.base, { "a.txt": "mine\n" }, "Mine");
        const tip = await f.push("main", { "a.txt": "theirs\n" });
        const facts = found(await f.host.pullRequest(f.repo, 1, "main"));
        expect(facts).toMatchObject({ mergeability: "NOT_MERGEABLE", judgedOn: tip });
        expect(facts.obstacle).toContain("a.txt");
      });

      test("shows that it was closed, drafted, retargeted and pushed to", async () => {
        const f = await start();
        await f.push("release", { "r.txt": "r\n" });
        const head = await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        await f.draftPullRequest(1);
        await f.retargetPullRequest(1, "release");
        expect(found(await f.host.pullRequest(f.repo, 1, "main"))).toMatchObject({
          draft: true,
          baseBranch: "release",
        });
        await f.closePullRequest(1);
        expect(found(await f.host.pullRequest(f.repo, 1, "main")).state).toBe("CLOSED");
        const next = await f.openPullRequest(1, head, { "b.txt": "c\n" }, "Change b");
        expect(found(await f.host.pullRequest(f.repo, 1, "main"))).toMatchObject({ headSha: next, title: "Change b" });
      });
    });

    describe("the statuses of a pull request's own head", () => {
      const ownOf = async (f: Started, prNumber: number) =>
        found(await f.host.pullRequest(f.repo, prNumber, "main")).own ?? null;

      test("are told where it contains the target, until the target moves", async () => {
        const f = await start({ unit: "pass", lint: "pass" });
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        expect(await ownOf(f, 1)).toBeNull();
        await f.proveHead(1);
        const own = await ownOf(f, 1);
        expect(own).toMatchObject({ tip: f.base });
        expect(own?.statuses).toEqual([
          expect.objectContaining({ context: "unit", state: "SUCCESS" }),
          expect.objectContaining({ context: "lint", state: "SUCCESS" }),
        ]);
        await f.push("main", { "x.txt": "x\n" });
        expect(await ownOf(f, 1)).toBeNull();
      });

      test("are not those of an earlier head, or of a head that began before the present tip", async () => {
        const f = await start();
        const head = await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        await f.proveHead(1);
        await f.openPullRequest(1, head, { "c.txt": "c\n" }, "Add c");
        expect(await ownOf(f, 1)).toBeNull();
        await f.push("main", { "x.txt": "x\n" });
        await f.openPullRequest(2, f.base, { "d.txt": "d\n" }, "Add d");
        await f.proveHead(2);
        expect(await ownOf(f, 2)).toBeNull();
      });
    });

    describe("the tip", () => {
      test("names its content and what it requires", async () => {
        const f = await start({ unit: "pass", lint: "pass" });
        const answer = await f.host.tip(f.repo, "main", null, []);
        expect(answer).toMatchObject({
          tip: { sha: f.base, required: { source: "CONFIG_FILE", statuses: ["unit", "lint"] }, configProblem: null },
          reached: [],
        });
      });

      test("of a branch that does not exist is missing", async () => {
        const f = await start();
        expect(await f.host.tip(f.repo, "nowhere", null, [])).toBe("MISSING");
        await f.removeBranch("main");
        expect(await f.host.tip(f.repo, "main", null, [])).toBe("MISSING");
      });

      test("names the heads that were merged by hand since, and no others", async () => {
        const f = await start();
        const one = await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const two = await f.openPullRequest(2, f.base, { "c.txt": "c\n" }, "Add c");
        const empty = f.base;
        const sha = await f.mergeByHand(1, "main");
        const answer = await f.host.tip(f.repo, "main", f.base, [one, two, empty]);
        expect(answer).toMatchObject({ tip: { sha }, reached: [one] });
        expect(await f.host.tip(f.repo, "main", sha, [one, two])).toMatchObject({ reached: [] });
        expect(await f.host.tip(f.repo, "main", null, [one])).toMatchObject({ reached: [] });
      });
    });

    describe("impacted targets", () => {
      const MAPPING = { web: ["web/**"], api: ["api/**", "proto/**"], docs: ["**/*.md"] };
      const targetsOf = async (f: Started, files: Readonly<Record<string, string | null>>, on = f.base) => {
        const head = await f.openPullRequest(1, on, files, "Change");
        const found = await f.host.impactedTargets(f.repo, 1, head, "main");
        return found === "ALL" ? found : [...found].sort();
      };

      test("are those that the changed paths belong to, and the tip says that it has them", async () => {
        const f = await start({ unit: "pass" }, MAPPING);
        expect(await f.host.tip(f.repo, "main", null, [])).toMatchObject({ tip: { targetsFromPaths: true } });
        expect(await targetsOf(f, { "web/a.ts": "1\n" })).toEqual(["web"]);
        expect(await targetsOf(f, { "web/.eslintrc": "1\n", "proto/x/y.proto": "1\n" })).toEqual(["api", "web"]);
        expect(await targetsOf(f, { "web/README.md": "1\n" })).toEqual(["docs", "web"]);
        expect(await targetsOf(f, { 'web/"odd" [name]\té.ts': "1\n" })).toEqual(["web"]);
      });

      test("are ALL where a path belongs to none, and where the mapping itself is changed", async () => {
        const f = await start({ unit: "pass" }, { ...MAPPING, any: [".mainline*"] });
        expect(await targetsOf(f, { "web/a.ts": "1\n", "a.txt": "other\n" })).toBe("ALL");
        expect(await targetsOf(f, f.checks({ unit: "pass" }, { any: ["**"] }))).toBe("ALL");
      });

      test("are none for a change of nothing", async () => {
        const f = await start({ unit: "pass" }, MAPPING);
        expect(await targetsOf(f, {})).toEqual([]);
      });

      test("of what is moved or removed are those of the place where it was, too", async () => {
        const f = await start({ unit: "pass" }, MAPPING);
        const text = "one\ntwo\nthree\nfour\n";
        const on = await f.push("main", { "web/moved.ts": text, "web/gone.ts": "other\n" });
        expect(await targetsOf(f, { "web/moved.ts": null, "api/moved.ts": text }, on)).toEqual(["api", "web"]);
        expect(await targetsOf(f, { "web/gone.ts": null }, on)).toEqual(["web"]);
      });

      test("are of what the pull request changes, and not of what has landed since it was begun", async () => {
        const f = await start({ unit: "pass" }, MAPPING);
        await f.push("main", { "api/landed.ts": "1\n", "other.txt": "1\n" });
        expect(await targetsOf(f, { "web/a.ts": "1\n" })).toEqual(["web"]);
      });

      test("follow the mapping at the tip, whatever the pull request's own says", async () => {
        const f = await start({ unit: "pass" }, { old: ["web/**"] });
        const head = await f.openPullRequest(1, f.base, { "web/a.ts": "1\n" }, "Change");
        expect(await f.host.impactedTargets(f.repo, 1, head, "main")).toEqual(["old"]);
        await f.push("main", f.checks({ unit: "pass" }, { fresh: ["web/**"] }));
        expect(await f.host.impactedTargets(f.repo, 1, head, "main")).toEqual(["fresh"]);
      });

      test("are ALL where the tip names none, or where one of them is called that", async () => {
        const f = await start();
        expect(await f.host.tip(f.repo, "main", null, [])).not.toHaveProperty("tip.targetsFromPaths");
        expect(await targetsOf(f, { "web/a.ts": "1\n" })).toBe("ALL");
        await f.push("main", f.checks({ unit: "pass" }, { web: ["web/**"], ALL: ["web/core/**"] }));
        expect(await targetsOf(f, { "web/a.ts": "1\n" })).toEqual(["web"]);
        expect(await targetsOf(f, { "web/core/a.ts": "1\n" })).toBe("ALL");
      });

      test("cannot be told of a commit or a branch that is not there", async () => {
        const f = await start({ unit: "pass" }, MAPPING);
        const head = await f.openPullRequest(1, f.base, { "web/a.ts": "1\n" }, "Change");
        const gone = commitSha("f".repeat(40));
        await expect(f.host.impactedTargets(f.repo, 1, gone, "main")).rejects.toThrow(HostUnavailable);
        await expect(f.host.impactedTargets(f.repo, 1, head, "nowhere")).rejects.toThrow(HostUnavailable);
      });
    });

    describe("a run", () => {
      test("holds the base and all changes, on its own branch, and its checks pass", async () => {
        const f = await start();
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        await f.openPullRequest(2, f.base, { "c.txt": "c\n" }, "Add c");
        const { request, answer } = await build(f, "r1", [1, 2]);
        expect(answer.ok).toBe(true);
        expect(await f.filesAt(request.branch)).toEqual({ "a.txt": "1\n2\n3\n", "b.txt": "b\n", "c.txt": "c\n" });
        const statuses = await ended(f, request.run);
        expect(statuses).toMatchObject({ complete: true, repeats: 0, broken: null });
        expect(statuses.statuses).toMatchObject([{ context: "unit", state: "SUCCESS" }]);
      });

      test("built twice is one run with one answer", async () => {
        const f = await start();
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const first = await build(f, "r1", [1]);
        const second = await build(f, "r1", [1]);
        expect(second.answer).toEqual(first.answer);
      });

      test("without changes tests the tip itself", async () => {
        const f = await start();
        const { answer, request } = await build(f, "r1", []);
        expect(answer).toMatchObject({ ok: true, value: { commit: f.base } });
        expect((await ended(f, request.run)).statuses).toMatchObject([{ state: "SUCCESS" }]);
      });

      test("reports failures, and a required status that the content does not define as one", async () => {
        const f = await start({ unit: "pass", lint: "fail" });
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const known = f.awaitsWhatIsMissing === true ? ["unit", "lint"] : ["unit", "absent"];
        const { request } = await build(f, "r1", [1], { required: known });
        const { statuses } = await ended(f, request.run);
        expect(Object.fromEntries(statuses.map(({ context, state }) => [context, state]))).toEqual({
          unit: "SUCCESS",
          lint: "FAILURE",
          ...(f.awaitsWhatIsMissing === true ? {} : { absent: "FAILURE" }),
        });
      });

      test("that conflicts names the change, whom it conflicts with, and where", async () => {
        const f = await start();
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        await f.openPullRequest(2, f.base, { "a.txt": "1\ntwo\n3\n" }, "Two");
        await f.openPullRequest(3, f.base, { "a.txt": "1\nzwei\n3\n" }, "Zwei");
        const { answer } = await build(f, "r1", [1, 2, 3]);
        expect(answer).toEqual({
          ok: false,
          why: { kind: "CONFLICT", entry: entryId("e3"), with: entryId("e2"), paths: ["a.txt"] },
        });
        const tip = await f.push("main", { "a.txt": "1\nII\n3\n" });
        const onTip = await build(f, "r2", [1, 3], { base: tip });
        expect(onTip.answer).toMatchObject({ ok: false, why: { kind: "CONFLICT", entry: entryId("e3"), with: null } });
      });

      test("whose commit is not there fails for a reason of its own", async () => {
        const f = await start();
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const change = { ...(await changeOf(f, 1)), headSha: commitSha("f".repeat(40)) };
        const { answer } = await build(f, "r1", [], { changes: [change] });
        expect(answer).toMatchObject({ ok: false, why: { kind: "OWN", entry: change.entry } });
      });

      test("repeats the checks asked for, once per number", async () => {
        const f = await start({ unit: "fail once", lint: "fail" });
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const { request } = await build(f, "r1", [1], { required: ["unit", "lint"] });
        const before = await ended(f, request.run);
        expect(before.statuses).toMatchObject([{ state: "FAILURE" }, { state: "FAILURE" }]);
        await f.host.repeatChecks(f.repo, request.run, 1, ["unit"]);
        await f.host.repeatChecks(f.repo, request.run, 1, ["unit"]);
        const after = await ended(f, request.run);
        expect(after).toMatchObject({ repeats: 1, statuses: [{ state: "SUCCESS" }, { state: "FAILURE" }] });
        await f.host.repeatChecks(f.repo, request.run, 1, ["unit", "lint"]);
        expect(await f.host.statuses(f.repo, request.run)).toEqual(after);
      });

      test("that nobody has heard of is broken", async () => {
        const f = await start();
        expect((await f.host.statuses(f.repo, runId("unheard"))).broken).not.toBeNull();
      });

      test("closed ends its checks and removes its branch, and closing again changes nothing", async () => {
        const f = await start({ unit: "hang" });
        await f.openPullRequest(1, f.base, { "b.txt": "b\n" }, "Add b");
        const { request } = await build(f, "r1", [1]);
        expect(await f.host.statuses(f.repo, request.run)).toMatchObject({ complete: false });
        expect(await f.branchExists(request.branch)).toBe(true);
        await f.host.closeRun(f.repo, request.run, request.branch);
        await f.host.closeRun(f.repo, request.run, request.branch);
        expect(await f.branchExists(request.branch)).toBe(false);
        expect((await f.host.statuses(f.repo, request.run)).broken).not.toBeNull();
        await f.host.closeRun(f.repo, runId("unheard"), "mainline/pr-1/unheard");
      });
    });

    landingConformance({ start, changeOf, build, landing });
  });
}

const found = (facts: PullRequestFacts | "NOT_FOUND"): PullRequestFacts => {
  if (facts === "NOT_FOUND") throw new Error("the pull request was not found");
  return facts;
};

/** The run's statuses once all have come. */
export const ended = (f: { host: CodeHost; repo: RepoKey }, run: RunId): Promise<RunStatuses> =>
  eventually(
    () => f.host.statuses(f.repo, run),
    ({ complete, broken }) => complete || broken !== null,
  );
