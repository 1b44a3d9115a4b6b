import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitSha } from "../../../shared/kernel/ids.ts";
import type { MergeMethod } from "../../../shared/queue/engine/types.ts";
import { aBuild, aChange, aGitHost, type Fixture } from "./fixture.ts";

let f: Fixture;
beforeEach(async () => {
  f = await aGitHost();
});
afterEach(() => f.dispose());

/** Park and Miller's generator: the same cases every time. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const CASES = 9;
const LINES = 12;

/** What `git rebase` or `git merge` in an ordinary clone makes of it: a tree, or a conflict. */
function byHand(clone: string, method: MergeMethod, tip: CommitSha, head: CommitSha): string {
  const git = (...args: readonly string[]) => {
    const who = ["-c", "user.name=Hand", "-c", "user.email=hand@example.com", "-c", "core.hooksPath=/dev/null"];
    return spawnSync("git", ["-C", clone, ...who, ...args], { encoding: "utf8" });
  };
  git("checkout", "--quiet", "--force", "--detach", method === "REBASE" ? head : tip);
  const made =
    method === "REBASE" ? git("rebase", "--quiet", tip) : git("merge", "--quiet", "--no-ff", "--no-edit", head);
  const answer = made.status === 0 ? git("rev-parse", "HEAD^{tree}").stdout.trim() : "CONFLICT";
  git("rebase", "--abort");
  git("merge", "--abort");
  return answer;
}

test.each(["REBASE", "MERGE_COMMIT", "SQUASH"] as const)(
  "%s without a worktree gives what git gives in one",
  async (method) => {
    const next = numbersFrom(20_261_121);
    const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
    const edited = (lines: readonly string[], tag: string): string[] =>
      lines.with(next(LINES), `${tag} ${next(1_000)}`);
    const clone = join(f.data, "clone");
    spawnSync("git", ["init", "--quiet", clone]);
    const outcomes = new Set<string>();
    for (let index = 0; index < CASES; index++) {
      const lines = Array.from({ length: LINES }, (_, line) => `line ${line}`);
      const base = f.repo.commit("main", { files: { a: text(lines), b: text(lines) } });
      let mine = lines;
      let head = base;
      for (let count = 1 + next(3); count > 0; count--) {
        mine = edited(mine, "mine");
        head = f.repo.pullRequest(1, { on: head, files: { [next(2) === 0 ? "a" : "b"]: text(mine) } });
      }
      const tip = f.repo.commit("main", { files: { a: text(edited(lines, "theirs")) } });
      spawnSync("git", ["-C", clone, "fetch", "--quiet", f.repo.dir, "+refs/*:refs/all/*"]);
      const answer = await f.host.buildRun(
        aBuild(f, `r${index}`, tip, { changes: [aChange(1, head)], mergeMethod: method }),
      );
      const ours = answer.ok ? answer.value.tree : "CONFLICT";
      expect([index, ours]).toEqual([index, byHand(clone, method, tip, head)]);
      outcomes.add(answer.ok ? "CLEAN" : answer.why.kind);
    }
    expect(outcomes).toContain("CLEAN");
    expect(outcomes.size).toBeGreaterThan(1);
  },
);
