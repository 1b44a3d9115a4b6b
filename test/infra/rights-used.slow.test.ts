/**
 * What each function's policy allows, held against what its code does: all functions run through everything that they
 * can meet, against the real table, and each call is recorded. A right too few fails here, and so does one too many.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { needsOf } from "../../infra/needs.ts";
import { type Recorded, recorded, together } from "./recorded.ts";
import { allowed, mayDo } from "./rights.ts";
import { type DeployedFunction, functionsOf, synthesise } from "./template.ts";

const functions = functionsOf(synthesise("prod"));

/** Which function asks first, and which tells what was spent, is chance: each that asks GitHub may be the one. */
const FIRST_ASKED: readonly string[] = ["PutItem githubRepositories", "PutItem githubNames", "UpdateItem githubBudget"];
const isByChance = ({ name }: DeployedFunction, right: string): boolean =>
  needsOf(name).gitHub === true && FIRST_ASKED.includes(right);

describe("what functions did and what they may do", () => {
  let calls: Recorded;
  beforeAll(async () => {
    calls = together(await recorded("stream"), await recorded("sweep"));
  });

  const callsOf = (name: string): ReadonlyMap<string, string> => calls.get(name) ?? new Map<string, string>();

  test("every function that stores or reads anything was seen doing it", () => {
    const silent = functions.filter(({ name }) => callsOf(name).size === 0).map(({ name }) => name);
    expect(silent.toSorted()).toEqual(["get-open-api", "get-status", "unknown-path"]);
    const known = new Set(functions.map(({ name }) => name));
    expect([...calls.keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  test.each(functions)("$name may do all that it did", (one) => {
    const refused = [...callsOf(one.name)].filter(([what, pk]) => !mayDo(one, what, pk)).map(([what]) => what);
    expect(refused).toEqual([]);
  });

  test.each(functions)("$name did all that it may do", (one) => {
    const did = callsOf(one.name);
    // The secret is read where a function is made of its environment, which the bundles' test does.
    const rights = allowed(one).filter((right) => right !== "GetSecretValue secret");
    expect(rights.filter((right) => !did.has(right) && !isByChance(one, right))).toEqual([]);
  });

  test("what whoever comes first does at GitHub was done by somebody", () => {
    const done = new Set([...calls.values()].flatMap((one) => [...one.keys()]));
    for (const right of FIRST_ASKED) expect(done).toContain(right);
  });
});
