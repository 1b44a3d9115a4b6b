import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { isInQueue, shownEntry } from "../../../shared/queue/app/shown.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig, ROLES } from "./rig.ts";

const EVENTS = "GET /repos/{owner}/{repo}/issues/{issue_number}/events";

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
  rig = await aRig(tables, { labelCommandsEnabled: true });
});
afterAll(async () => {
  await rig.stop();
});

const isQueued = async (number: number): Promise<boolean> => {
  const entry = await rig.entry(number);
  return entry !== undefined && isInQueue(shownEntry(entry));
};

describe("the label", () => {
  test.each(ROLES)("put on by %s submits if they may write, and taken off by them cancels", async (role) => {
    const writes = ["write", "maintain", "admin"].includes(role);
    const number = await rig.change();
    await rig.labels(number, role);
    expect(await isQueued(number)).toBe(writes);
    if (writes) expect((await rig.entry(number))?.submittedBy).toBe(`github:${role}`);
    else expect(rig.logged()).toContain(`"by":"${role}"`);
    await rig.unlabels(number, role);
    expect(await isQueued(number)).toBe(false);
    expect(rig.reactions(number)).toEqual([]);
  });

  test("taken off by somebody who may not write changes nothing", async () => {
    const number = await rig.change();
    await rig.labels(number);
    await rig.unlabels(number, "triage");
    expect(await isQueued(number)).toBe(true);
  });

  test("acts once each time that it is put on, and again when it is put on again", async () => {
    const number = await rig.change();
    await rig.labels(number);
    const first = await rig.entry(number);
    await rig.says(number, "/cancel");
    await rig.advances();
    await rig.hinted({ kind: "LABEL", prNumber: number, label: "merge-queue" });
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    await rig.unlabels(number);
    await rig.labels(number, "maintain");
    expect(await isQueued(number)).toBe(true);
    expect((await rig.entry(number))?.id).not.toBe(first?.id);
  });

  test("comes off each time that a submission has ended, and not when somebody puts it on between two", async () => {
    const number = await rig.change();
    const carried = () => rig.twin.labels(NAME, number);
    for (const round of [1, 2, 3]) {
      await rig.labels(number);
      await rig.advances();
      await rig.performs("show");
      expect([round, carried()]).toEqual([round, ["merge-queue"]]);
      await rig.says(number, "/cancel");
      await rig.advances();
      await rig.performs("show");
      expect([round, carried()]).toEqual([round, []]);
    }
    await rig.twin.label(NAME, number, "merge-queue", "write");
    await rig.says(number, "/why");
    expect(await rig.performs("show")).toBeGreaterThan(0);
    expect(rig.twin.comments(NAME, number).some((one) => one.body.startsWith("<!-- mainline-answer:"))).toBe(true);
    expect(carried()).toEqual(["merge-queue"]);
    await rig.hinted({ kind: "LABEL", prNumber: number, label: "merge-queue" });
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(true);
  });

  test("taken off does not cancel what a command submitted", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge");
    await rig.labels(number);
    await rig.unlabels(number);
    expect(await isQueued(number)).toBe(true);
  });

  test("taken off does not cancel what a command submitted after the label's own submission had ended", async () => {
    const number = await rig.change();
    await rig.labels(number);
    await rig.says(number, "/cancel");
    await rig.advances();
    await rig.says(number, "/merge");
    await rig.unlabels(number);
    expect(await isQueued(number)).toBe(true);
  });

  test("is the queue's own, in any case, and no other", async () => {
    const number = await rig.change();
    await rig.labels(number, "write", "bug");
    expect(await isQueued(number)).toBe(false);
    await rig.labels(number, "write", "Merge-Queue");
    expect(await isQueued(number)).toBe(true);
  });

  test("put on by a bot counts where the queue names the bot", async () => {
    const number = await rig.change();
    await rig.labels(number, "renovate[bot]");
    expect(await isQueued(number)).toBe(false);
    await rig.set({ allowedBotSubmitters: ["renovate"] });
    const other = await rig.change();
    await rig.labels(other, "renovate[bot]");
    expect(await isQueued(other)).toBe(true);
    await rig.set({ allowedBotSubmitters: [] });
  });

  test("of a closed pull request does nothing, and no more does one where labels are no commands", async () => {
    const number = await rig.change();
    await rig.twin.closePullRequest(NAME, number);
    await rig.labels(number);
    expect(await isQueued(number)).toBe(false);
    await rig.set({ labelCommandsEnabled: false });
    const other = await rig.change();
    await rig.twin.label(NAME, other, "merge-queue", "write");
    rig.twin.counts.reset();
    expect(await rig.hinted({ kind: "LABEL", prNumber: other, label: "merge-queue" })).toBe("IGNORED");
    await rig.looks();
    expect(rig.twin.counts.of("GET /repos/{owner}/{repo}/pulls")).toBe(0);
    await rig.set({ labelCommandsEnabled: true });
  });

  test("is found again after GitHub failed, and after the process died", async () => {
    const number = await rig.change();
    await rig.twin.label(NAME, number, "merge-queue", "write");
    await rig.hinted({ kind: "LABEL", prNumber: number, label: "merge-queue" });
    rig.twin.faults.fail(1, 502, /events/u);
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    rig.passes(MINUTE_MS);
    rig.diesAt("submit:after-write");
    await rig.performs("hear");
    const first = await rig.entry(number);
    expect(first).toBeDefined();
    rig.passes(3 * MINUTE_MS);
    await rig.performs("hear");
    expect((await rig.entry(number))?.id).toBe(first?.id);
    await rig.unlabels(number);
    expect(await isQueued(number)).toBe(false);
  });

  test("is found behind hundreds of other events", async () => {
    const number = await rig.change();
    for (let at = 0; at < 60; at += 1) {
      await rig.twin.label(NAME, number, "flaky", "write");
      await rig.twin.unlabel(NAME, number, "flaky", "write");
    }
    await rig.labels(number);
    expect(await isQueued(number)).toBe(true);
    rig.twin.counts.reset();
    await rig.unlabels(number);
    expect(await isQueued(number)).toBe(false);
    expect(rig.twin.counts.of(EVENTS)).toBe(2);
  });
});
