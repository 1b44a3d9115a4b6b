import { afterAll, beforeAll, expect, test } from "vitest";
import { leftBy } from "../../../shared/queue/app/hints.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, REPO, type Rig } from "./rig.ts";

const QUEUES = 120;

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
  rig = await aRig(tables);
  for (let at = 1; at < QUEUES; at += 1) await rig.queue(`release-${at}`);
});
afterAll(async () => {
  await rig.stop();
});

const waiting = async (): Promise<number> => {
  const keys = await rig.app.queues.list(rig.key.org, REPO);
  const effects = await Promise.all(keys.map((key) => rig.app.queues.waitingEffects(key, rig.app.clock())));
  return effects.flat().length;
};

test("a comment in a repository of many queues is left for each of them, once", async () => {
  const number = await rig.change();
  const id = await rig.twin.comment(NAME, number, "write", "/merge");
  const saying = { kind: "COMMENT", prNumber: number, id, text: "/merge" } as const;
  expect(await rig.hinted(saying)).toBe("TAKEN");
  expect(await waiting()).toBe(QUEUES);
  expect(await rig.hinted(saying)).toBe("SEEN");
  expect(await waiting()).toBe(QUEUES);
});

test("what a process that died left half taken is taken by whoever brings it again", async () => {
  const before = await waiting();
  const saying = { kind: "COMMENT", prNumber: 1, id: 4_711, text: "/merge" } as const;
  const nothing = { prNumbers: [], branches: [], tested: [], moved: false };
  const left = await leftBy(rig.app, rig.key.org, REPO, { ...nothing, id: "one", sayings: [saying] });
  expect(left).toHaveLength(QUEUES);
  expect(await rig.app.heard.take(REPO.host, ["comment:4711"], left.slice(0, 85))).toBe("TAKEN");
  expect(await waiting()).toBe(before + 85);
  expect(await rig.hinted(saying, "another")).toBe("TAKEN");
  expect(await waiting()).toBe(before + QUEUES);
});

test("queues of other branches ask GitHub for no more than the pull request, and do nothing", async () => {
  const other = { ...rig.key, branch: "release-7" };
  rig.twin.counts.reset();
  await rig.performs("hear", other);
  expect(await rig.app.heard.of(other, 1)).toMatchObject({ revision: 0 });
  expect(rig.twin.counts.of("GET /repos/{owner}/{repo}/collaborators/{username}/permission")).toBe(0);
});
