import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { targetsOf as targetsOfAll } from "../../../shared/code-host/git/targets.ts";
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
    const paths = Array.from({ length: 30 }, (_, at) => `web/${"-".repeat(200)}${at}x`);
    // Its time is over at each look at the clock: it has to give way as often as it looks.
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
    let turns = 0;
    const pulse = (): void => {
      turns += 1;
      beat = setImmediate(pulse);
    };
    let beat = setImmediate(pulse);
    try {
      expect(
        await targetsOfAll(
          paths,
          new Map([
            ["web", ["web/**"]],
            ["odd", globs],
          ]),
        ),
      ).toEqual(["web"]);
    } finally {
      clearImmediate(beat);
      vi.restoreAllMocks();
    }
    expect(turns).toBeGreaterThanOrEqual((paths.length * globs.length) / 16);
  });
});
