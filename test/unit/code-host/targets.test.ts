import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import { config, type NewContent } from "../../support/git-repository.ts";
import { aGitHost, type Fixture } from "./fixture.ts";

let f: Fixture;
beforeEach(async () => {
  f = await aGitHost();
});
afterEach(() => f.dispose());

const MAPPING = { web: ["web/**"], api: ["api/**"] };
const mapped = (targets: Readonly<Record<string, readonly string[]>> = MAPPING) => config({}, undefined, targets);
const targetsOf = (head: CommitSha) => f.host.impactedTargets(f.repo.key, 1, head, "main");
const files = (count: number, folder = "web"): NonNullable<NewContent["files"]> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/${at}.ts`, "x"]));

describe("targets of the paths that a commit changes", () => {
  test("are ALL beyond twenty thousand paths, or four megabytes of them", async () => {
    const base = f.repo.commit("main", { files: mapped() });
    expect(await targetsOf(f.repo.pullRequest(1, { on: base, files: files(20_000) }))).toEqual(["web"]);
    expect(await targetsOf(f.repo.pullRequest(1, { on: base, files: files(20_001) }))).toBe("ALL");
    const long = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, at) => [`web/${`${"n".repeat(200)}/`.repeat(18)}${at}`, "x"]),
    );
    expect(await targetsOf(f.repo.pullRequest(1, { on: base, files: long }))).toBe("ALL");
  });

  test("are ALL where the commit left the branch in several places, or in none", async () => {
    const base = f.repo.commit("main", { files: mapped() });
    const own = f.repo.pullRequest(1, { on: base, files: { "web/a.ts": "1" } });
    const other = f.repo.commit("main", { on: base, files: { "api/b.ts": "1" } });
    f.repo.commit("main", { on: other, alsoOn: own, files: { "web/a.ts": "1" } });
    const head = f.repo.pullRequest(1, { on: own, alsoOn: other, files: { "api/b.ts": "1", "web/c.ts": "1" } });
    expect(await targetsOf(head)).toBe("ALL");
    f.repo.commit("elsewhere", { files: { "web/a.ts": "1" } });
    expect(await targetsOf(f.repo.pullRequest(2, { on: f.repo.sha("elsewhere"), files: { "web/b.ts": "1" } }))).toBe(
      "ALL",
    );
  });

  test("keep nobody waiting, however many globs there are to look at", async () => {
    const globs = Array.from({ length: 900 }, (_, at) => `**/*${"-*".repeat(20)}${at}`);
    const base = f.repo.commit("main", { files: mapped({ web: ["web/**"], odd: globs }) });
    const head = f.repo.pullRequest(1, {
      on: base,
      files: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`web/${"-".repeat(200)}${at}x`, "x"])),
    });
    const waits: number[] = [];
    let last = performance.now();
    const pulse = setInterval(() => {
      waits.push(performance.now() - last);
      last = performance.now();
    }, 5);
    expect(await targetsOf(head)).toEqual(["web"]);
    clearInterval(pulse);
    expect(waits.length).toBeGreaterThan(10);
    expect(Math.max(...waits)).toBeLessThan(250);
  });
});
