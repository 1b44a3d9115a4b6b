import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOUR_MS } from "../../../shared/kernel/time.ts";
import { isInQueue, shownEntry } from "../../../shared/queue/app/shown.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig } from "./rig.ts";

const COMMENTS = "GET /repos/{owner}/{repo}/issues/comments";
const PULLS = "GET /repos/{owner}/{repo}/pulls";

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  rig = await aRig(tables, { labelCommandsEnabled: true }, HOUR_MS / 2);
  await rig.looks();
});
afterEach(() => rig.stop());

const isQueued = async (number: number): Promise<boolean> => {
  const entry = await rig.entry(number);
  return entry !== undefined && isInQueue(shownEntry(entry));
};
const looksAndPerforms = async (): Promise<number> => {
  await rig.looks();
  return rig.performs("hear");
};

describe("without webhooks", () => {
  test("commands and labels are heard by looking, each once", async () => {
    const [merged, labelled] = [await rig.change(), await rig.change()];
    await rig.twin.comment(NAME, merged, "write", "/merge");
    await rig.twin.comment(NAME, merged, "write", "looks good");
    await rig.twin.label(NAME, labelled, "merge-queue", "write");
    expect(await looksAndPerforms()).toBe(2);
    expect([await isQueued(merged), await isQueued(labelled)]).toEqual([true, true]);
    expect(await looksAndPerforms()).toBe(0);
    await rig.twin.unlabel(NAME, labelled, "merge-queue", "write");
    await rig.twin.comment(NAME, merged, "write", "/cancel");
    expect(await looksAndPerforms()).toBe(2);
    expect([await isQueued(merged), await isQueued(labelled)]).toEqual([false, false]);
  });

  test("what a webhook brought is not heard again, and what is heard by looking no webhook brings again", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge");
    expect(await looksAndPerforms()).toBe(0);
    const id = await rig.twin.comment(NAME, number, "write", "/cancel");
    await rig.looks();
    expect(await rig.hinted({ kind: "COMMENT", prNumber: number, id, text: "/cancel" })).toBe("SEEN");
  });

  test("GitHub is asked once a minute for each repository, and the same as long as nothing is said", async () => {
    await rig.queue("other");
    rig.twin.counts.reset();
    for (let at = 0; at < 3; at += 1) await rig.looks();
    expect([rig.twin.counts.of(COMMENTS), rig.twin.counts.of(PULLS)]).toEqual([3, 3]);
    const { hearMissed } = await import("../../../shared/queue/app/people/hear-missed.ts");
    await hearMissed(rig.app, [rig.key]);
    await hearMissed(rig.app, [rig.key]);
    expect(rig.twin.counts.of(COMMENTS)).toBe(3);
    const before = await rig.app.heard.lookedThrough(rig.key.org, rig.key.repo);
    await rig.looks();
    const after = await rig.app.heard.lookedThrough(rig.key.org, rig.key.repo);
    expect(after).toMatchObject({ commentsSince: before?.commentsSince, pullsSince: before?.pullsSince });
  });

  test("what was said before the first look, or while nobody looked for an hour, is not meant any more", async () => {
    const own = await aRig(tables);
    const number = await own.change();
    await own.twin.comment(NAME, number, "write", "/merge");
    await own.looks();
    await own.looks();
    expect(await own.performs("hear")).toBe(0);
    await own.twin.comment(NAME, number, "write", "/merge");
    own.passes(2 * HOUR_MS);
    await own.looks();
    expect(await own.performs("hear")).toBe(0);
    await own.stop();
  });

  test("an outage of GitHub loses nothing", async () => {
    const number = await rig.change();
    await rig.twin.comment(NAME, number, "write", "/merge");
    rig.twin.faults.fail(2, 502, /issues\/comments/u);
    expect(await looksAndPerforms()).toBe(0);
    rig.twin.faults.clear();
    expect(await looksAndPerforms()).toBe(1);
    expect(await isQueued(number)).toBe(true);
  });

  test("a flood of comments is walked through, a few hundred at each look", async () => {
    const number = await rig.change();
    for (let at = 0; at < 310; at += 1) await rig.twin.comment(NAME, number, "read", "chat");
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await rig.twin.comment(NAME, number, "write", "/merge");
    let heard = 0;
    for (let at = 0; at < 4 && heard === 0; at += 1) heard = await looksAndPerforms();
    expect(heard).toBe(1);
    expect(await isQueued(number)).toBe(true);
  });
});

test("where neither comments nor labels are commands, GitHub is asked nothing", async () => {
  await rig.set({ commandsEnabled: false, labelCommandsEnabled: false });
  rig.twin.counts.reset();
  await rig.looks();
  await rig.looks();
  expect([rig.twin.counts.of(COMMENTS), rig.twin.counts.of(PULLS)]).toEqual([0, 0]);
});
