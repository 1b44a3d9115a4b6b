import { describe, expect, it } from "vitest";
import { routes } from "../../../shared/api/routes.ts";
import { isBranchName, targetBranch } from "../../../shared/schemas/branch.ts";
import { priority, priorityName } from "../../../shared/schemas/priority.ts";
import { prNumber, sha } from "../../../shared/schemas/pull-request.ts";
import { host, repo, repoPath } from "../../../shared/schemas/repo.ts";
import { text, timeIn } from "../../../shared/schemas/wire.ts";

const REPO = { host: "github.com", owner: "acme", name: "app" };
const REF = { repo: REPO, targetBranch: "main" };

describe("pr.number", () => {
  it.each([
    [1, 1],
    [4_294_967_295, 4_294_967_295],
    ["42", 42],
    ["0042", 42],
    ["4294967295", 4_294_967_295],
  ])("takes %j", (sent, read) => {
    expect(prNumber.parse(sent)).toBe(read);
  });

  it.each([
    0,
    -1,
    1.5,
    4_294_967_296,
    "4294967296",
    "0",
    "",
    " 1",
    "1e3",
    "0x1",
    "+1",
    "٣",
    null,
    true,
    [1],
    {},
    "9".repeat(400),
  ])("refuses %j", (sent) => {
    expect(prNumber.safeParse(sent).success).toBe(false);
  });
});

describe("a repository", () => {
  it.each(["github.com", "git.local", "localhost", "a", "X-1.Example.COM", "10.0.0.1"])("may be on %s", (name) => {
    expect(host.safeParse(name).success).toBe(true);
  });

  it.each([
    "",
    " ",
    "a b",
    "a/b",
    "a:1",
    "-a.b",
    "a-.b",
    "a..b",
    ".a",
    "a.",
    "a\n",
    "http://a",
    "ä.de",
    `${"a".repeat(64)}.b`,
  ])("cannot be on %j", (name) => {
    expect(host.safeParse(name).success).toBe(false);
  });

  it.each(["app", "_x", "A.b-c_d", "1", "a".repeat(100), "git", "a.github", "lock"])("may be named %s", (name) => {
    expect(repo.safeParse({ ...REPO, owner: name, name }).success).toBe(true);
  });

  it.each([
    "",
    ".",
    "..",
    ".git",
    "a.git",
    "a.GIT",
    "a.lock",
    "-a",
    ".a",
    "a..b",
    "a/b",
    "a\\b",
    "a b",
    "a\n",
    "a\0",
    "ä",
    "a".repeat(101),
  ])("cannot be named %j, neither owner nor name", (name) => {
    const issues = repo.safeParse({ ...REPO, owner: name, name }).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join("."))).toEqual(["owner", "name"]);
  });

  it.each([
    ["acme/app", true],
    ["acme", false],
    ["acme/app/x", false],
    ["/app", false],
    ["acme/..", false],
    ["a/b,c/d", false],
  ])("in a query is owner/name: %s", (path, good) => {
    expect(repoPath.safeParse(path).success).toBe(good);
  });
});

describe("a target branch", () => {
  it.each([
    "main",
    "release/1.2",
    "a@b",
    "feature#7",
    "ünï",
    "refs",
    "mainline",
    "main-line/x",
    "a.b/c",
    "x".repeat(255),
    "head",
    "a{b}",
  ])("may be %s", (name) => {
    expect(targetBranch.safeParse(name).success).toBe(true);
  });

  it.each([
    "",
    "@",
    "HEAD",
    "-x",
    "--upload-pack=x",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a.",
    "a.lock",
    "a.lock/b",
    "a..b",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a@{1}",
    "@{-1}",
    "a\tb",
    "a\u007f",
    "a\nb",
    "refs/heads/main",
    "refs/x",
    "mainline/pr-1/x",
    "x".repeat(256),
    "ü".repeat(128),
    "a\ud800",
  ])("cannot be %j", (name) => {
    expect(targetBranch.safeParse(name).success).toBe(false);
  });

  it("is below mainline/ only for the service: as a name it is good", () => {
    expect(isBranchName("mainline/pr-1/x")).toBe(true);
  });
});

describe("priority", () => {
  it.each([
    [0, 0],
    [255, 255],
    ["urgent", 0],
    ["HIGH", 10],
    ["Medium", 100],
    ["low", 200],
    ["lowest", 255],
    [null, null],
  ])("takes %j", (sent, read) => {
    expect(priority.parse(sent)).toBe(read);
  });

  it.each([-1, 256, 1.5, "5", "", "constructor", "__proto__", true, [], {}])("refuses %j, in words", (sent) => {
    const issues = priority.safeParse(sent).error?.issues ?? [];
    expect(issues).toHaveLength(1);
  });

  it("has a name where there is one", () => {
    expect([0, 10, 100, 200, 255, 7].map(priorityName)).toEqual(["urgent", "high", "medium", "low", "lowest", null]);
  });
});

describe("text and times", () => {
  it("refuse half a character", () => {
    expect(text(0, 10).safeParse("a\ud83d").success).toBe(false);
    expect(text(0, 10).safeParse("a😀").success).toBe(true);
  });

  it.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31t12:00:00.123456z", "2026-01-31T12:00:00.123Z"],
    ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"],
  ])("read %s", (sent, read) => {
    expect(new Date(timeIn.parse(sent)).toISOString()).toBe(read);
  });

  it.each(["2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00", "now", 5, null])(
    "refuse %j as a time",
    (sent) => {
      expect(timeIn.safeParse(sent).success).toBe(false);
    },
  );

  it("read a commit id in any case, whole", () => {
    expect(sha.parse("A".repeat(40))).toBe("a".repeat(40));
    expect(sha.safeParse("a".repeat(39)).success).toBe(false);
    expect(sha.safeParse("g".repeat(40)).success).toBe(false);
  });
});

describe("a submitted pull request is asked for", () => {
  const schema = routes["get-submitted-pull-request"].request;
  it.each([
    [{ number: "7" }, true],
    [{ branch: "feature/x" }, true],
    [{ branch: "mainline/x", number: 1 }, true],
    [{}, false],
    [{ branch: "-x" }, false],
  ])("by %j: %s", (pr, good) => {
    expect(schema.safeParse({ ...REF, pr }).success).toBe(good);
  });

  it.each([
    [[], false],
    [[{ number: 1 }, { number: "2" }], true],
    [Array.from({ length: 51 }, () => ({ number: 1 })), false],
  ])("1 to 50 at a time", (prs, good) => {
    expect(routes["get-submitted-pull-requests"].request.safeParse({ ...REF, prs }).success).toBe(good);
  });
});

it.each([
  [{}, {}],
  [{ repo: "Acme/App", repoHost: "github.com" }, { repo: { host: "github.com", owner: "Acme", name: "App" } }],
  [{ repo: "a/b" }, null],
  [{ repoHost: "a.b" }, null],
  [{ repo: "", repoHost: "" }, null],
])("metrics are of everything or of one whole repository: %j", (sent, read) => {
  expect(routes["get-merge-queue-metrics"].request.safeParse(sent).data ?? null).toEqual(read);
});
