/** Whether a failed run is forgiven: by what its checks reported, on a real table. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { forgivenOf } from "../../../shared/test-health/app/forgive.ts";
import { setQuarantine } from "../../../shared/test-health/app/tests.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { type Outcomes, type TestHealth, testHealth } from "./store-fixture.ts";

let running: Tables;
let health: TestHealth;
beforeAll(async () => {
  running = await sharedTable();
});

const GOOD = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

/** `known` has failed and been quarantined, and the job usually has ten tests. */
beforeEach(async () => {
  health = testHealth(await running.another());
  for (const letter of ["1", "2", "3"])
    await health.takes({ passed: GOOD, failed: ["known"] }, { sha: letter.repeat(40) });
  const [record] = await health.app.health.allTests(health.repository);
  await setQuarantine(health.app, health.repository, record?.id ?? "", "ALWAYS_QUARANTINE");
  health.passes(MINUTE_MS);
});

const reports = (what: Outcomes | string, attempt = 1) => health.takes(what, { testRun: "q-1", job: "unit", attempt });
const asked = (change: object = {}) => {
  const about = { run: "q-1", repeats: 0, contexts: ["unit"], startedAt: health.now(), ...change };
  return forgivenOf(health.app, health.repository, about);
};

describe("a failed check", () => {
  test("is forgiven where only a quarantined test failed in it", async () => {
    await reports({ passed: GOOD, failed: ["known"] });
    expect(await asked()).toEqual([{ context: "unit", tests: ["known"] }]);
  });

  test("is waited for until it has reported, each attempt by itself", async () => {
    expect(await asked()).toBe("LATER");
    await reports({ passed: GOOD, failed: ["known"] });
    expect(await asked({ repeats: 1 })).toBe("LATER");
    expect(await asked({ contexts: ["unit", "e2e"] })).toBe("LATER");
    expect(await asked({ run: "q-2" })).toBe("LATER");
  });

  test.each<readonly [string, Outcomes]>([
    ["another test failed as well", { passed: GOOD.slice(1), failed: ["known", "a"] }],
    ["nothing failed in its report", { passed: [...GOOD, "known"] }],
    ["its report is not complete", { passed: GOOD.slice(0, 5), failed: ["known"] }],
  ])("is not forgiven where %s", async (_, outcomes) => {
    await reports(outcomes);
    expect(await asked()).toEqual([]);
  });

  test("is not forgiven where a test failed after it had passed", async () => {
    const of = (name: string, inside = ""): string => `<testcase classname="c" name="${name}">${inside}</testcase>`;
    const failure = '<failure message="it broke"/>';
    const cases = [...GOOD.map((name) => of(name)), of("known", failure), of("a", failure)].join("");
    await reports(`<testsuites><testsuite name="s" file="src/a.test.ts">${cases}</testsuite></testsuites>`);
    expect(await asked()).toEqual([]);
  });

  test("is not forgiven by two halves of two attempts, nor by a quarantine that came after the run began", async () => {
    await reports({ passed: GOOD.slice(0, 5), failed: ["known"] });
    await reports({ passed: GOOD.slice(5), failed: ["known"] }, 2);
    expect(await asked({ repeats: 1 })).toEqual([]);
    await reports({ passed: GOOD, failed: ["known"] }, 3);
    expect(await asked({ repeats: 2, startedAt: health.now() - 2 * MINUTE_MS })).toEqual([]);
    expect(await asked({ repeats: 2 })).toEqual([{ context: "unit", tests: ["known"] }]);
  });
});
