import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { refsMark } from "../../../shared/code-host/git/refs-mark.ts";
import { aFolder, aRepository, type TestRepository } from "../../support/git-repository.ts";

const folder = aFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As if nothing had been written for an hour. */
function settles({ dir, git }: TestRepository): void {
  const before = Date.now() / 1_000 - 3_600;
  const refs = git("for-each-ref", "--format=%(refname)").split("\n");
  const folders = ["refs/heads", "refs/pull", ...refs.map((ref) => join(ref, ".."))];
  for (const file of [...refs, ...folders, "packed-refs"])
    try {
      utimesSync(join(dir, file), before, before);
    } catch {
      // It is packed, or there is none.
    }
}

test("the mark of refs stays while none of them is written, and differs once one is", async () => {
  const repo = aRepository(folder, "acme/marks");
  repo.commit("main", { files: { "a.txt": "1\n" } });
  repo.pullRequest(1, { files: { "b.txt": "1\n" } });
  expect(await refsMark(repo.dir)).toBeUndefined();
  settles(repo);
  const marks = [await refsMark(repo.dir)];
  expect(marks[0]).toBeDefined();
  expect(await refsMark(repo.dir)).toBe(marks[0]);
  const changes = [
    () => repo.pullRequest(1, { files: { "b.txt": "2\n" } }),
    () => repo.git("update-ref", "refs/heads/other", "main"),
    () => repo.git("pack-refs", "--all"),
    () => repo.git("update-ref", "-d", "refs/heads/other"),
  ];
  for (const change of changes) {
    change();
    settles(repo);
    const mark = await refsMark(repo.dir);
    expect(marks).not.toContain(mark);
    marks.push(mark);
  }
});

test("many refs, and refs that are not files, are left to git", async () => {
  const many = aRepository(folder, "acme/many");
  const first = many.commit("main", { files: { "a.txt": "1\n" } });
  for (let at = 0; at < 201; at += 1) writeFileSync(join(many.dir, "refs/heads", `b-${at}`), `${first}\n`);
  settles(many);
  expect(await refsMark(many.dir)).toBeUndefined();
  const other = aRepository(folder, "acme/reftable");
  settles(other);
  expect(await refsMark(other.dir)).toBeDefined();
  writeFileSync(join(other.dir, "reftable"), "");
  expect(await refsMark(other.dir)).toBeUndefined();
});
