import { rmSync } from "node:fs";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../../shared/code-host/github/client.ts";
import { createGitHubHost } from "../../../shared/code-host/github/host.ts";
import { markerOf } from "../../../shared/code-host/github/show-comment.ts";
import type { PageHeld, ShownStore } from "../../../shared/code-host/github/show-port.ts";
import type { CheckShown, Page, People } from "../../../shared/code-host/people.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { commitSha, entryId, orgSlug } from "../../../shared/kernel/ids.ts";
import { type EpochMs, later, systemClock } from "../../../shared/kernel/time.ts";
import { githubMemory } from "../../../shared/table/github-memory.ts";
import { githubShown } from "../../../shared/table/github-shown.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";
import { sharedTable, type Tables } from "../../support/table.ts";

const NAME = "acme/app";
const REPO = { host: "github.com", owner: "acme", name: "app" };
const ORG = orgSlug("local");
const COMMENT = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
const EDIT = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
const CHECK = "POST /repos/{owner}/{repo}/check-runs";

let tables: Tables;
let twin: GitHubTwin;
let folder: string;
let number: number;
let pages: ShownStore;
let connect: (pages: ShownStore) => Promise<People>;
let people: People;
let ahead = 0;
const clock = (): EpochMs => later(systemClock(), ahead);

beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  ahead = 0;
  folder = aFolder();
  twin = await startGitHubTwin({ folder });
  await twin.addRepository(NAME, { files: { "a.txt": "1\n" } });
  number = await twin.openPullRequest(NAME, { head: "one", base: "main", files: { "b.txt": "b\n" } });
  const installation = await twin.installation("acme");
  const table = await tables.another();
  pages = githubShown(table, ORG, clock);
  connect = async (shown) => {
    const client = createClient({ ...twin.app, api: twin.url }, systemClock);
    const memory = githubMemory(table, ORG, systemClock);
    const installationOf = async () => installation;
    const host = createGitHubHost({
      org: ORG,
      host: "github.com",
      client,
      memory,
      installationOf,
      clock,
      pages: shown,
    });
    if (host.people === undefined) throw new Error("nothing is shown");
    return host.people;
  };
  people = await connect(pages);
});
afterEach(async () => {
  await twin.stop();
  rmSync(folder, { recursive: true, force: true });
});

const head = () => commitSha(twin.pull(NAME, number).head.sha);
const checkIn = (state: CheckShown["state"], title = "A title"): CheckShown => ({
  name: "Mainline (main)",
  state,
  title,
  summary: "A summary",
  url: null,
});
const page = (change: Partial<Page> = {}): Page => ({
  branch: "main",
  headSha: head(),
  comment: "Hello",
  check: checkIn("QUEUED"),
  labels: { of: [], on: [] },
  ...change,
});
const show = (wanted: Page | null, by = people): Promise<readonly string[]> =>
  by.show(REPO, number, wanted?.branch ?? "main", async () => wanted);
const comments = (): readonly string[] => twin.comments(NAME, number).map((one) => one.body);
const checks = (sha: string = head()) =>
  twin.checkRuns(NAME, sha).map(({ name, status, conclusion }) => ({ name, status, conclusion }));
/** The lease that a failure left behind is over, and GitHub is asked again. */
const wait = (): void => void (ahead += 90_000);

/** Dies instead of noting this, the first time. */
function dyingAt(isIt: (shown: PageHeld["shown"]) => boolean): ShownStore {
  let died = false;
  return {
    hold: async (of) => {
      const held = await pages.hold(of);
      if (held === undefined || died) return held;
      return {
        ...held,
        keep: async (shown) => {
          if (!isIt(shown)) return held.keep(shown);
          died = true;
          throw new Error("died");
        },
        // Dead processes free nothing.
        free: async () => false,
      };
    },
  };
}

describe("a page", () => {
  test("that is shown already costs no call at all", async () => {
    await show(page());
    twin.counts.reset();
    await show(page());
    expect(twin.counts.total()).toBe(0);
  });

  test("is made once, and what differs is edited", async () => {
    await show(page());
    await show(page({ comment: "Bye" }));
    await show(page({ comment: "Bye", check: checkIn("SUCCESS") }));
    expect(comments()).toEqual([`${markerOf("main")}\nBye`]);
    expect(checks()).toEqual([{ name: "Mainline (main)", status: "completed", conclusion: "success" }]);
    expect([twin.counts.of(COMMENT), twin.counts.of(EDIT), twin.counts.of(CHECK)]).toEqual([1, 1, 1]);
  });

  test("of another queue is another one", async () => {
    await show(page());
    await show(
      page({ branch: "release", comment: "There", check: { ...checkIn("QUEUED"), name: "Mainline (release)" } }),
    );
    expect(comments()).toEqual([`${markerOf("main")}\nHello`, `${markerOf("release")}\nThere`]);
    expect(checks().map((one) => one.name)).toEqual(["Mainline (main)", "Mainline (release)"]);
  });

  test("of a queue that is gone stays as it is", async () => {
    await show(page());
    await show(null);
    expect(comments()).toHaveLength(1);
  });

  test("is asked for while nobody else is at it, and once more for whoever came meanwhile", async () => {
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let calls = 0;
    const first = people.show(REPO, number, "main", async () => {
      calls += 1;
      isAsked();
      await gate;
      return page();
    });
    await asked;
    await expect(show(page({ comment: "Newer" }))).rejects.toThrow("somebody else is at it");
    open();
    await first;
    expect(comments()).toEqual([`${markerOf("main")}\nHello`]);
    expect(calls).toBe(2);
    await show(page({ comment: "Newer" }));
    expect(comments()).toEqual([`${markerOf("main")}\nNewer`]);
  });

  test("is free again a minute after whoever showed it died", async () => {
    await pages.hold({ repo: REPO, prNumber: number, branch: "main" });
    await expect(show(page())).rejects.toThrow(HostUnavailable);
    ahead += 61_000;
    await show(page());
    expect(comments()).toHaveLength(1);
  });
});

describe("who dies between making something and noting it", () => {
  test("has made one comment", async () => {
    await expect(show(page(), await connect(dyingAt((shown) => shown.comment !== null)))).rejects.toThrow("died");
    wait();
    await show(page({ comment: "Newer" }));
    expect(comments()).toEqual([`${markerOf("main")}\nNewer`]);
    expect(twin.counts.of(COMMENT)).toBe(1);
  });

  test("has made one check run", async () => {
    await expect(show(page(), await connect(dyingAt((shown) => shown.check !== null)))).rejects.toThrow("died");
    wait();
    await show(page({ check: checkIn("IN_PROGRESS") }));
    expect(checks()).toEqual([{ name: "Mainline (main)", status: "in_progress", conclusion: null }]);
    expect(twin.counts.of(CHECK)).toBe(1);
  });

  test("has given one answer", async () => {
    const answer = { key: "show:1:2", text: "Because." };
    const asked = page({ comment: null, check: null, answer });
    await expect(show(asked, await connect(dyingAt((shown) => shown.answer !== null)))).rejects.toThrow("died");
    wait();
    await show(asked);
    await show(asked);
    expect(comments()).toEqual([expect.stringMatching(/^<!-- mainline-answer:\S+ -->\nBecause\.$/u)]);
  });
});

describe("the comment", () => {
  test("of somebody else with the queue's mark is never touched", async () => {
    const forged = `${markerOf("main")}\nMerged, believe me`;
    await twin.comment(NAME, number, "mallory", forged);
    await show(page());
    await show(page({ comment: "Bye" }));
    expect(comments()).toEqual([forged, `${markerOf("main")}\nBye`]);
  });

  test("that somebody deleted is made again once, and no more", async () => {
    const remove = async (): Promise<void> => {
      for (const one of twin.comments(NAME, number)) await twin.deleteComment(NAME, one.id);
    };
    await show(page());
    await remove();
    await show(page({ comment: "Two" }));
    expect(comments()).toEqual([`${markerOf("main")}\nTwo`]);
    await remove();
    for (const comment of ["Three", "Four"]) await show(page({ comment }));
    expect(comments()).toEqual([]);
  });

  test("has a mark that no name of a branch can end", () => {
    expect(markerOf("a--><script>")).toBe("<!-- mainline:a--%3E%3Cscript%3E -->");
  });
});

describe("the check run", () => {
  test("of a head that was pushed over is left as neutral, where it was open", async () => {
    const before = head();
    await show(page());
    await twin.push(NAME, "one", { files: { "b.txt": "c\n" } });
    await show(page());
    expect(checks(before)).toMatchObject([{ status: "completed", conclusion: "neutral" }]);
    expect(checks()).toMatchObject([{ status: "queued" }]);
  });

  test("of a head that was judged stays as it was judged", async () => {
    const before = head();
    await show(page({ check: checkIn("FAILURE") }));
    await twin.push(NAME, "one", { files: { "b.txt": "c\n" } });
    await show(page());
    expect(checks(before)).toMatchObject([{ status: "completed", conclusion: "failure" }]);
  });

  test("that has ended is not opened again: the next submission has its own", async () => {
    await show(page({ check: checkIn("FAILURE") }));
    await show(page({ check: checkIn("QUEUED") }));
    await show(page({ check: checkIn("SUCCESS") }));
    expect(checks()).toMatchObject([{ conclusion: "success" }]);
    expect(twin.counts.of(CHECK)).toBe(2);
  });
});

describe("labels", () => {
  const of = ["merge-queue: testing", "merge-queue: merged"];
  const labelled = (...on: readonly string[]): Page => page({ comment: null, check: null, labels: { of, on } });
  const carried = (): readonly string[] => [...twin.labels(NAME, number)].sort();

  test("of the queue come and go one by one, and those of people stay", async () => {
    await twin.label(NAME, number, "bug");
    await show(labelled("merge-queue: testing"));
    expect(carried()).toEqual(["bug", "merge-queue: testing"]);
    await show(labelled("merge-queue: merged"));
    expect(carried()).toEqual(["bug", "merge-queue: merged"]);
    expect(twin.counts.of("POST /repos/{owner}/{repo}/labels")).toBe(2);
  });

  test("that the repository has already are not made", async () => {
    await twin.label(NAME, number, "merge-queue: testing");
    await twin.unlabel(NAME, number, "merge-queue: testing");
    await show(labelled("merge-queue: testing"));
    expect(carried()).toEqual(["merge-queue: testing"]);
    expect(twin.counts.of("POST /repos/{owner}/{repo}/labels")).toBe(0);
  });

  test("that are only to be taken off are taken off once, and may be put on again", async () => {
    await twin.label(NAME, number, "queue it");
    const off = page({ comment: null, check: null, labels: { of: ["queue it"], on: [] } });
    await show(off);
    expect(carried()).toEqual([]);
    await twin.label(NAME, number, "queue it");
    await show(off);
    expect(carried()).toEqual(["queue it"]);
  });

  test("are set for each submission, also where it wants the same as the one before", async () => {
    const ended = (id: string) =>
      page({ submission: entryId(id), comment: null, check: null, labels: { of: ["queue it"], on: [] } });
    for (const id of ["e1", "e2"]) {
      await twin.label(NAME, number, "queue it");
      await show(ended(id));
      expect([id, carried()]).toEqual([id, []]);
    }
    await twin.label(NAME, number, "queue it");
    await show(ended("e2"));
    expect(carried()).toEqual(["queue it"]);
  });

  test("of which GitHub refused one are what is wanted then, also where that is what was shown before", async () => {
    await show(labelled("merge-queue: testing"));
    twin.faults.fail(1, 403, /^POST .*issues\/\d+\/labels$/u, "No");
    expect(await show(labelled("merge-queue: merged"))).toEqual([expect.stringContaining("labels: GitHub answered")]);
    await show(labelled("merge-queue: testing"));
    expect(carried()).toEqual(["merge-queue: testing"]);
  });
});

describe("a GitHub that refuses", () => {
  test.each([403, 404, 410, 422])(
    "with %i is told of, not asked again for the same, and in no other part's way",
    async (status) => {
      twin.faults.fail(1, status, /^POST .*\/comments$/u, "No");
      expect(await show(page())).toEqual([expect.stringContaining(`comment: GitHub answered ${status}`)]);
      expect(checks()).toHaveLength(1);
      twin.counts.reset();
      expect(await show(page())).toEqual([]);
      expect(twin.counts.of(COMMENT)).toBe(0);
      await show(page({ comment: "Another" }));
      expect(comments()).toEqual([`${markerOf("main")}\nAnother`]);
    },
  );

  const HOUR_MS = 3_600_000;

  test("is asked for the same again after an hour, and then after another", async () => {
    twin.faults.fail(2, 403, /^POST .*\/comments$/u, "No");
    expect(await show(page())).toHaveLength(1);
    ahead += HOUR_MS - 30_000;
    expect(await show(page())).toEqual([]);
    ahead += 30_000;
    expect(await show(page())).toHaveLength(1);
    ahead += HOUR_MS - 30_000;
    expect(await show(page())).toEqual([]);
    expect(comments()).toEqual([]);
    ahead += 30_000;
    expect(await show(page())).toEqual([]);
    expect(comments()).toEqual([`${markerOf("main")}\nHello`]);
  });

  test("is asked again where it did not say when it refused, as older items do not", async () => {
    twin.faults.fail(1, 403, /^POST .*\/comments$/u, "No");
    await show(page());
    const held = await pages.hold({ repo: REPO, prNumber: number, branch: "main" });
    if (held === undefined) throw new Error("somebody is at it");
    const { refusedAt: _, ...older } = held.shown;
    await held.keep(older);
    await held.free();
    await show(page());
    expect(comments()).toEqual([`${markerOf("main")}\nHello`]);
  });

  test.each([
    ["comment", (text: string) => page({ comment: text }), /^POST .*\/comments$/u],
    ["check", (text: string) => page({ check: checkIn("QUEUED", text) }), /^POST .*\/check-runs$/u],
    ["labels", (text: string) => page({ labels: { of: ["x", "y"], on: [text] } }), /^POST .*issues\/\d+\/labels$/u],
  ])("the %s is asked for again once another was taken", async (name, having, call) => {
    twin.faults.fail(1, 403, call, "No");
    expect(await show(having("x"))).toEqual([expect.stringContaining(`${name}: GitHub answered 403`)]);
    await show(having("y"));
    await show(having("x"));
    const seen = JSON.stringify([comments(), twin.checkRuns(NAME, head()), twin.labels(NAME, number)]);
    expect(seen).toMatch({ comment: /\\nx"/u, check: /"title":"x"/u, labels: /\["x"\]\]$/u }[name] ?? /never/u);
  });

  test("for want of a right names the right", async () => {
    twin.setPermissions("acme", { metadata: "read", contents: "write" });
    const refused = await show(page({ labels: { of: ["x"], on: ["x"] } }));
    expect(refused.map((one) => one.split(":")[0])).toEqual(["comment", "check", "labels"]);
  });
});

describe("a GitHub that is not well", () => {
  test.each([
    ["errs", () => twin.faults.fail(1, 502, /comments/u)],
    ["limits", () => twin.faults.rateLimit({ kind: "SECONDARY", seconds: 1, match: /comments/u })],
    ["loses an answer", () => twin.faults.loseAnswers(1, /^POST .*comments/u)],
  ])("and %s is left alone for a while, and has one page in the end", async (_, fault) => {
    fault();
    await expect(show(page())).rejects.toThrow(HostUnavailable);
    const before = twin.counts.total();
    await expect(show(page())).rejects.toThrow(HostUnavailable);
    expect(twin.counts.total()).toBe(before);
    wait();
    await expect.poll(() => show(page({ comment: "Later" }))).toEqual([]);
    expect(comments()).toEqual([`${markerOf("main")}\nLater`]);
  });

  test("and does not answer holds nobody up for long", async () => {
    twin.faults.loseAnswers(1, /comments/u, "SILENT");
    // It gives up by itself: the answer never comes.
    await expect(show(page())).rejects.toThrow("GitHub takes long");
    await expect(show(page())).rejects.toThrow("nothing is shown before");
  });
});
