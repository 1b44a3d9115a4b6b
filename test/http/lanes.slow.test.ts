import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aGate, type Gate } from "../support/gate.ts";
import { config, type TestRepository } from "../support/git-repository.ts";
import { aService, type Fields, type QueueClient, type QueueWishes, type Service } from "../support/service.ts";

let service: Service;
let gate: Gate;
beforeAll(async () => {
  [service, gate] = await Promise.all([aService(), aGate()]);
});
afterEach(async () => {
  await Promise.all(made.splice(0).map(emptied));
  gate.clear();
});
afterAll(async () => {
  await Promise.all([service.stop(), gate.stop()]);
});

type Made = { readonly repo: TestRepository; readonly queue: QueueClient };

/** Queues of the test: what is left in them would hold the next test's checks up. */
const made: Made[] = [];
async function emptied({ queue }: Made): Promise<void> {
  const { enqueuedPullRequests } = await queue.view();
  for (const { prNumber } of enqueuedPullRequests) await queue.asks("/cancelPullRequest", { pr: { number: prNumber } });
}

async function parallel({ settings, ...wishes }: QueueWishes = {}): Promise<Made> {
  const all = { mode: "parallel", ...settings };
  const one = await service.queue({ checks: { unit: gate.command }, ...wishes, settings: all });
  made.push(one);
  return one;
}

/** Numbers of their own for each test: the gate knows contents by them. */
let last = 100;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, () => (last += 1));

const opens = ({ repo }: Made, number: number, files: Readonly<Record<string, string>> = {}) =>
  repo.pullRequest(number, { files: { [`${number}.txt`]: "1\n", ...files }, message: `Change ${number}` });

const sets = async ({ queue }: Made, number: number, impactedTargets: unknown, more: Fields = {}) => {
  const answer = await queue.asks("/setImpactedTargets", { pr: { number, ...more }, impactedTargets });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
};

/** Opened, with these targets, and submitted. */
async function enters(site: Made, number: number, targets: unknown, files?: Readonly<Record<string, string>>) {
  opens(site, number, files);
  await sets(site, number, targets);
  await site.queue.submit(number);
}

/** Waits until exactly these are built, each by what it holds: `1,2` is #2 on #1. Two checks at a time run, no more. */
async function isTesting({ repo, queue }: Made, ...contents: readonly string[]): Promise<void> {
  const read = async (): Promise<readonly string[]> => {
    const { testRuns } = await queue.runs();
    return testRuns.map(({ baseSha, testBranchSha }) =>
      repo
        .subjects(`${baseSha}..${testBranchSha ?? baseSha}`)
        .toReversed()
        .map((subject) => /\(#(\d+)\)$/u.exec(subject)?.[1])
        .join(","),
    );
  };
  const wanted = JSON.stringify(contents.toSorted());
  await eventually(read, (found) => JSON.stringify(found.toSorted()) === wanted, { what: contents.join(" and ") });
}

describe("lanes", () => {
  it("two PRs that share no target are tested without each other, and land in the order in which they pass", async () => {
    const site = await parallel();
    const [one = 0, two = 0] = numbers(2);
    await enters(site, one, ["web"]);
    await enters(site, two, ["api"]);
    await isTesting(site, `${one}`, `${two}`);
    gate.pass(`${two}`);
    expect((await site.queue.ends(two)).state).toBe("MERGED");
    await site.queue.reaches(one, "TESTING");
    gate.pass(`${one}`);
    expect((await site.queue.ends(one)).state).toBe("MERGED");
    expect([gate.asked(`${one}`), gate.asked(`${two}`)]).toEqual([1, 1]);
    expect(site.repo.read("main", `${one}.txt`) + site.repo.read("main", `${two}.txt`)).toBe("11");
  });

  it("one that shares a target is tested on top of the one ahead, and its run says what both change", async () => {
    const site = await parallel();
    const [one = 0, two = 0, three = 0] = numbers(3);
    await enters(site, one, ["web", "shared"]);
    await enters(site, two, ["api", "shared"]);
    await enters(site, three, ["docs"]);
    await isTesting(site, `${one}`, `${one},${two}`, `${three}`);
    const { testRuns } = await site.queue.runs();
    const runOf = (number: number) => testRuns.find((run) => run.testedPullRequests[0]?.prNumber === number);
    expect(runOf(one)?.dependentPrs).toEqual([two]);
    expect(runOf(three)?.dependentPrs).toEqual([]);
    expect(runOf(two)).toMatchObject({ impactedTargetsTotal: 3, impactedTargetsForTestedPrsTotal: 2 });
    expect(new Set(runOf(two)?.impactedTargets)).toEqual(new Set(["web", "shared", "api"]));
    expect(new Set(runOf(two)?.impactedTargetsForTestedPrs)).toEqual(new Set(["api", "shared"]));
    for (const content of [`${one}`, `${one},${two}`, `${three}`]) gate.pass(content);
    for (const number of [one, two, three]) expect((await site.queue.ends(number)).state).toBe("MERGED");
    const ended = await site.queue.runs({ pr: { number: two } });
    expect(ended).toMatchObject({ status: "SUCCEEDED", impactedTargetsForTestedPrsTotal: 2 });
  });

  it("ALL waits for all that change anything, all of those for it, and [] for nobody", async () => {
    const site = await parallel();
    const [one = 0, all = 0, two = 0, none = 0] = numbers(4);
    await enters(site, one, ["web"]);
    await enters(site, all, "ALL");
    await enters(site, two, ["api"]);
    await enters(site, none, []);
    const contents = [`${one}`, `${one},${all}`, `${all},${two}`, `${none}`];
    await isTesting(site, ...contents);
    for (const content of contents.toReversed()) gate.pass(content);
    for (const number of [one, all, two, none]) expect((await site.queue.ends(number)).state).toBe("MERGED");
  });

  it("one that fails stands in nobody's way but its own lane's", async () => {
    const site = await parallel({ settings: { retriesBeforeFailure: 0 } });
    const [one = 0, two = 0] = numbers(2);
    await enters(site, one, ["web"]);
    await enters(site, two, ["api"]);
    gate.fail(`${one}`);
    gate.pass(`${two}`);
    expect((await site.queue.ends(two)).state).toBe("MERGED");
    expect((await site.queue.ends(one)).state).toBe("FAILED");
  });

  it("two lanes that conflict in text all the same: the later one does not land, and says with what it conflicts", async () => {
    const site = await parallel({ files: { "a.txt": "0\n" } });
    const [one = 0, two = 0] = numbers(2);
    await enters(site, one, ["web"], { "a.txt": "one\n" });
    await enters(site, two, ["api"], { "a.txt": "two\n" });
    await isTesting(site, `${one}`, `${two}`);
    gate.pass(`${one}`);
    await site.queue.ends(one);
    gate.pass(`${two}`);
    await site.queue.reaches(two, "NOT_READY");
    const told = await site.queue.explain(two);
    expect(told.blockers.map((one) => one.message).join()).toMatch(/conflicts with main in a\.txt/u);
    expect(site.repo.read("main", "a.txt")).toBe("one");
  });

  it("100,000 targets against one of them, and against none", async () => {
    const site = await parallel();
    const [many = 0, shares = 0, not = 0] = numbers(3);
    const targets = Array.from({ length: 100_000 }, (_, at) => `//pkg:${at}`);
    await enters(site, many, targets);
    await enters(site, shares, ["//pkg:99999"]);
    await enters(site, not, ["//pkg:100000"]);
    await isTesting(site, `${many}`, `${many},${shares}`, `${not}`);
  });

  it("names are compared as they are written: case, Unicode forms and spaces count", async () => {
    const site = await parallel();
    const [one = 0, two = 0, three = 0] = numbers(3);
    await enters(site, one, ["caf\u00e9", "__proto__", "constructor", "web "]);
    await enters(site, two, ["cafe\u0301", "Constructor", "web"]);
    await enters(site, three, ["__proto__"]);
    await isTesting(site, `${one}`, `${two}`, `${one},${three}`);
  });
});

describe("targets that come", () => {
  it("late let a PR in that waited for them, and it says that it does", async () => {
    const site = await parallel();
    const [one = 0] = numbers(1);
    opens(site, one);
    await site.queue.submit(one);
    const waiting = await site.queue.reaches(one, "NOT_READY");
    expect(waiting.readiness).toMatchObject({ hasImpactedTargets: false, requiresImpactedTargets: true });
    const told = await eventually(
      () => site.queue.explain(one),
      ({ blockers }) => blockers.some((blocker) => blocker.kind === "NO_IMPACTED_TARGETS"),
    );
    expect(JSON.stringify(told.waitsFor)).toContain("/v1/setImpactedTargets");
    await sets(site, one, ["web"]);
    gate.pass(`${one}`);
    expect(await site.queue.ends(one)).toMatchObject({
      state: "MERGED",
      readiness: { hasImpactedTargets: true, requiresImpactedTargets: true },
    });
  });

  it("for another commit than the head count for nothing, until that commit is the head", async () => {
    const site = await parallel();
    const [one = 0] = numbers(1);
    const old = opens(site, one);
    const head = site.repo.pullRequest(one, { on: old, files: { "b.txt": "1\n" } });
    await sets(site, one, ["web"], { sha: old });
    await site.queue.submit(one);
    expect((await site.queue.reaches(one, "NOT_READY")).readiness.hasImpactedTargets).toBe(false);
    await sets(site, one, ["web"], { sha: head });
    await site.queue.reaches(one, "TESTING");
  });

  it("before the push that makes their commit the head are used when it is", async () => {
    const site = await parallel();
    const [one = 0] = numbers(1);
    const old = opens(site, one);
    await site.queue.submit(one);
    await site.queue.reaches(one, "NOT_READY");
    const next = site.repo.commit(`next-${one}`, { on: old, files: { "b.txt": "1\n" } });
    await sets(site, one, ["web"], { sha: next });
    site.repo.git("update-ref", `refs/pull/${one}/head`, next);
    expect(await site.queue.reaches(one, "TESTING")).toMatchObject({ prSha: next });
  });

  it("in place of others make a PR depend on one that it did not, and it is tested again on top of that", async () => {
    const site = await parallel();
    const [one = 0, two = 0] = numbers(2);
    await enters(site, one, ["web"]);
    await enters(site, two, ["api"]);
    await isTesting(site, `${one}`, `${two}`);
    await sets(site, two, ["api", "web"]);
    await isTesting(site, `${one}`, `${one},${two}`);
    for (const content of [`${one}`, `${one},${two}`]) gate.pass(content);
    for (const number of [one, two]) expect((await site.queue.ends(number)).state).toBe("MERGED");
    expect((await site.queue.timeline(two)).map((move) => move.reason)).toContain("TARGETS_CHANGED");
  });
});

describe("targets from paths", () => {
  const MAPPING = { web: ["web/**"], api: ["api/**", "proto/**"] };
  const mapped = (targets: Readonly<Record<string, readonly string[]>> = MAPPING, settings: Fields = {}) =>
    parallel({ files: config({ unit: gate.command }, undefined, targets), settings });

  it("make lanes without anybody's upload; what belongs nowhere depends on all", async () => {
    const site = await mapped();
    const [web = 0, api = 0, both = 0, other = 0] = numbers(4);
    const files = { [web]: "web/a", [api]: "api/a", [both]: "proto/a", [other]: "Makefile" };
    for (const number of [web, api, both, other]) {
      site.repo.pullRequest(number, { files: { [files[number] ?? ""]: `${number}\n` } });
      await site.queue.submit(number);
      await site.queue.reaches(number, "TESTING");
    }
    await isTesting(site, `${web}`, `${api}`, `${api},${both}`, `${web},${api},${both},${other}`);
    const { testRuns } = await site.queue.runs();
    const impacted = testRuns.map((run) => [run.testedPullRequests[0]?.prNumber, run.impactedTargetsForTestedPrs]);
    expect(impacted).toEqual([
      [web, ["web"]],
      [api, ["api"]],
      [both, ["api"]],
      [other, "ALL"],
    ]);
  });

  it("give way to an upload, whether it comes before or after", async () => {
    const site = await mapped();
    const [before = 0, after = 0] = numbers(2);
    site.repo.pullRequest(before, { files: { "web/a": "1\n" } });
    await sets(site, before, ["docs"]);
    await site.queue.submit(before);
    await site.queue.reaches(before, "TESTING");
    site.repo.pullRequest(after, { files: { "api/b": "1\n" } });
    await site.queue.submit(after);
    await isTesting(site, `${before}`, `${after}`);
    await sets(site, after, ["docs"]);
    await isTesting(site, `${before}`, `${before},${after}`);
  });

  it("follow a pull request that changes the mapping once that has landed", async () => {
    const site = await parallel();
    const [first = 0, web = 0] = numbers(2);
    const files = config({ unit: gate.command }, undefined, MAPPING);
    site.repo.pullRequest(first, { files, message: "Map paths" });
    await sets(site, first, "ALL");
    await site.queue.submit(first);
    site.repo.pullRequest(web, { files: { "web/a": "1\n" } });
    await site.queue.submit(web);
    await site.queue.reaches(web, "NOT_READY");
    gate.pass(`${first}`);
    await site.queue.ends(first);
    gate.pass(`${web}`);
    expect(await site.queue.ends(web)).toMatchObject({ state: "MERGED", readiness: { hasImpactedTargets: true } });
  });
});

describe("a batching rule", () => {
  it("keeps a PR with a target that it names out of every batch", async () => {
    const settings = {
      batch: true,
      batchingMinSize: 2,
      batchingMaxWaitTimeMinutes: 60,
      batchingRules: [{ targetPattern: "db/**", policy: "isolate" }],
    };
    const site = await parallel({ settings });
    const [alone = 0, one = 0, two = 0] = numbers(3);
    await enters(site, alone, ["db/migrations", "web"]);
    await isTesting(site, `${alone}`);
    await enters(site, one, ["api"]);
    await enters(site, two, ["api"]);
    await isTesting(site, `${alone}`, `${one},${two}`);
    const { testRuns } = await site.queue.runs();
    expect(testRuns.map((run) => run.testedPullRequests.map((pr) => pr.prNumber))).toEqual([[alone], [one, two]]);
  });
});

describe("a direct merge", () => {
  it("of what another queue has tested and landed needs no test of its own", async () => {
    const { repo, queue } = await service.queue({ checks: { unit: "true" }, settings: { directMergeMode: "always" } });
    const base = repo.sha("main");
    repo.git("update-ref", "refs/heads/develop", base);
    const develop = service.client(repo, "develop");
    await develop.asks("/createQueue");
    const [change = 0, promotion = 0] = numbers(2);
    repo.pullRequest(change, { on: base, files: { "a.txt": "1\n" }, message: "Change a" });
    await service.pr(repo, "retarget", `${change}`, "develop");
    await develop.submit(change);
    expect((await develop.ends(change)).state).toBe("MERGED");
    repo.git("update-ref", `refs/pull/${promotion}/head`, repo.sha("develop"));
    await queue.submit(promotion);
    expect(await queue.ends(promotion)).toMatchObject({
      state: "MERGED",
      conclusion: { reason: "MERGED_DIRECTLY" },
      verifiedByTestRun: null,
    });
    expect(repo.tree("main")).toBe(repo.tree("develop"));
    expect(repo.subjects(`${base}..main`)).toHaveLength(1);
  });
});

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
