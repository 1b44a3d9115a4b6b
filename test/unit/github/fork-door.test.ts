/** Who is let in without a token: whoever is wrong takes nothing from those who are right. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { forkDoor } from "../../../functions/fork-door.ts";
import { routes } from "../../../shared/api/routes.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import { RUN_HEADER } from "../../../shared/http/fork.ts";
import { ok } from "../../../shared/kernel/result.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aContext, anEvent, ports } from "../http/support.ts";
import { aRig, NAME, REPO, type Rig } from "./rig.ts";

const LOOKUP = "GET /repos/{owner}/{repo}/actions/runs/{run_id}";
const HONEST = "198.51.100.1";
const SHA = "a".repeat(40);

let tables: Tables;
let rig: Rig;
let asks: (address: string, run: number, pr?: { number: number; sha: string }) => Promise<boolean>;
let wrong = 0;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  rig = await aRig(tables);
  const door = forkDoor(() => rig.app);
  asks = async (address, run, pr = { number: 1, sha: SHA }) => {
    const body = { repo: REPO, targetBranch: "main", pr };
    return (await door.admit({ run, body, requestId: "r", address })) !== undefined;
  };
});
afterEach(() => rig.stop());

/** Each with a run of its own. */
const wrongs = (address: (at: number) => string, times: number): Promise<readonly boolean[]> =>
  Promise.all(Array.from({ length: times }, (_, at) => asks(address(at), (wrong += 1))));

/** A workflow of a fork, which may ask from where it likes. */
async function aFork(): Promise<(address: string) => Promise<boolean>> {
  const wanted = { head: "fork", base: "main", author: "stranger", fork: true, files: { "f.txt": "f\n" } };
  const number = await rig.twin.openPullRequest(NAME, wanted);
  const { sha } = rig.twin.pull(NAME, number).head;
  const run = rig.twin.addWorkflowRun(NAME, { headSha: sha, headBranch: "fork", fork: "stranger" });
  return (address) => asks(address, run, { number, sha });
}

const lookups = (): number => rig.twin.counts.of(LOOKUP);

describe("a fork's workflow is let in", () => {
  test("while somebody elsewhere is wrong a hundred times, which costs ten questions", async () => {
    const fork = await aFork();
    expect(new Set(await wrongs(() => "203.0.113.1", 100))).toEqual(new Set([false]));
    expect(lookups()).toBe(10);
    for (let at = 0; at < 12; at += 1) expect(await fork(HONEST)).toBe(true);
    expect(await fork("203.0.113.1")).toBe(false);
    rig.passes(61_000);
    expect(await fork("203.0.113.1")).toBe(true);
  });

  test("while a few are wrong as often as they may", async () => {
    const fork = await aFork();
    await wrongs((at) => `203.0.113.${at % 5}`, 100);
    expect(lookups()).toBe(20);
    expect(await fork(HONEST)).toBe(true);
  });
});

test("whoever is wrong from a hundred addresses costs thirty questions", async () => {
  await wrongs((at) => `203.0.113.${at}`, 100);
  expect(lookups()).toBe(30);
});

test("an address is that of whoever is connected, whatever they say it is", async () => {
  const addresses: string[] = [];
  const admit = async ({ address }: { readonly address: string }) => void addresses.push(address);
  const fork = { isOpen: () => true, admit };
  const run = async () => ok({ prNumber: 1, prSha: "", impactedTargets: 0 });
  const handler = endpoint(routes["set-impacted-targets"], ports(), run, fork);
  const headers = { [RUN_HEADER]: "7", "x-forwarded-for": HONEST, forwarded: `for=${HONEST}` };
  await handler(anEvent({ headers, body: "{}", lambda: undefined }), aContext);
  expect(addresses).toEqual(["127.0.0.1"]);
});
