/** Pull requests of forks: who pushes to them may have no right to say what lands. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig } from "./rig.ts";

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
  rig = await aRig(tables, { labelCommandsEnabled: true });
});
afterAll(async () => {
  await rig.stop();
});

let forks = 0;
const ofFork = (at: Rig = rig): Promise<number> => {
  forks += 1;
  const files = { [`fork-${forks}.txt`]: "1\n" };
  return at.twin.openPullRequest(NAME, { head: `fork-${forks}`, base: "main", author: "stranger", fork: true, files });
};

/** Heard only then, since its message was late or lost. */
async function heardLate(number: number, text: string): Promise<void> {
  const id = await rig.twin.comment(NAME, number, "write", text);
  rig.passes(4 * MINUTE_MS);
  await rig.hinted({ kind: "COMMENT", prNumber: number, id, text });
  await rig.performs("hear");
}

describe("a /merge on a fork's pull request", () => {
  test("that is heard at once submits it", async () => {
    const own = await aRig(tables);
    const number = await ofFork(own);
    await own.says(number, "/merge");
    expect((await own.entry(number))?.submittedBy).toBe("github:write");
    await own.stop();
  });

  test("that is heard minutes later does not, and says which commit is there now", async () => {
    const number = await ofFork();
    await heardLate(number, "/merge");
    expect(await rig.entry(number)).toBeUndefined();
    const head = rig.twin.pull(NAME, number).head.sha.slice(0, 12);
    expect(await rig.said(number)).toContain(`/merge --head=${head}`);
    await heardLate(number, `/merge --head=${head}`);
    expect((await rig.entry(number))?.submittedBy).toBe("github:write");
  });

  test("of the repository itself is not refused for coming late", async () => {
    const number = await rig.change();
    await heardLate(number, "/merge");
    expect((await rig.entry(number))?.submittedBy).toBe("github:write");
  });

  test.each([
    ["a fork's", true],
    ["the repository's own", false],
  ])("that names another commit than the head of %s does not submit it", async (_whose, isFork) => {
    const number = await (isFork ? ofFork() : rig.change());
    await rig.says(number, "/merge --head=0123456");
    expect(await rig.entry(number)).toBeUndefined();
    expect(await rig.said(number)).toContain("and not 0123456");
  });
});

test("a label that is heard minutes later does not submit a fork's pull request", async () => {
  const number = await ofFork();
  await rig.twin.label(NAME, number, "merge-queue", "write");
  rig.passes(4 * MINUTE_MS);
  await rig.hinted({ kind: "LABEL", prNumber: number, label: "merge-queue" });
  await rig.performs("hear");
  expect(await rig.entry(number)).toBeUndefined();
  expect(await rig.said(number)).toContain("put it on again");
});

describe("/why", () => {
  test.each([
    ["stranger", true],
    ["write", true],
    ["read", false],
  ])("by %s is answered in a comment of its own: %s", async (who, isAnswered) => {
    const own = await aRig(tables);
    const number = await ofFork(own);
    own.twin.setRole(NAME, "stranger", "read");
    await own.says(number, "/why", who);
    expect((await own.app.heard.of(own.key, number)).explainedAt !== null).toBe(isAnswered);
    await own.stop();
  });
});
