/** A label that is heard by looking, where many other pull requests changed after it was put on. */
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { HOUR_MS } from "../../../shared/kernel/time.ts";
import { isInQueue, shownEntry } from "../../../shared/queue/app/shown.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig } from "./rig.ts";

const PAGE = 100;

let tables: Tables;
let rig: Rig;
let number: number;
let asked: number;
beforeAll(async () => {
  tables = await sharedTable();
});
beforeEach(async () => {
  rig = await aRig(tables, { labelCommandsEnabled: true }, HOUR_MS / 2);
  await rig.looks();
  number = await rig.change();
  await rig.twin.label(NAME, number, "merge-queue", "write");
  asked = 0;
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await rig.stop();
});

/** GitHub's list of pull requests begins with so many pages of others, of that age. */
function othersFirst(pages: number, changedAt = Date.now()): void {
  const real = fetch;
  const page = async (url: URL, init: RequestInit): Promise<Response> => {
    asked += 1;
    const at = Number(url.searchParams.get("page"));
    url.searchParams.set("page", `${Math.max(1, at - pages)}`);
    const answer = await real(url, init);
    if (at > pages) return answer;
    const [one] = z.array(z.looseObject({})).parse(await answer.json());
    const other = (_: unknown, of: number) => ({
      ...one,
      number: 10_000 + at * PAGE + of,
      labels: [],
      updated_at: new Date(changedAt).toISOString(),
    });
    return Response.json(Array.from({ length: PAGE }, other));
  };
  vi.stubGlobal("fetch", (input: string, init: RequestInit) => {
    const url = new URL(input);
    return url.pathname.endsWith("/pulls") && init.method === "GET" ? page(url, init) : real(input, init);
  });
}

async function isHeard(): Promise<boolean> {
  await rig.looks();
  await rig.performs("hear");
  const entry = await rig.entry(number);
  return entry !== undefined && isInQueue(shownEntry(entry));
}

describe("of pull requests that changed since the last look", () => {
  test("hundreds are looked at, and no page more than that", async () => {
    othersFirst(5);
    expect(await isHeard()).toBe(true);
    expect(asked).toBe(6);
    expect(rig.logged()).not.toContain("more pull requests changed");
  });

  test("a page is asked for only while all before it changed since", async () => {
    othersFirst(5, Date.now() - HOUR_MS);
    expect(await isHeard()).toBe(false);
    expect(asked).toBe(1);
    expect(rig.logged()).not.toContain("more pull requests changed");
  });

  test("those beyond a thousand are not, which is logged", async () => {
    othersFirst(10);
    expect(await isHeard()).toBe(false);
    expect(asked).toBe(10);
    expect(rig.logged()).toContain("more pull requests changed");
  });
});
