import { afterEach, describe, expect, it } from "vitest";
import type { CheckState, Run } from "../../../shared/queue/engine/types.ts";
import { lackingNow, requiredNow, verdictOf } from "../../../shared/queue/engine/verdict.ts";
import { aQueue, aTip, status, testing } from "../../support/queue.ts";
import { keepsPromises } from "./promises.ts";

afterEach(keepsPromises);

const run = (reported: Readonly<Record<string, CheckState>>, change: Partial<Run> = {}): Run => ({
  ...testing([1]).run(1),
  required: ["unit", "lint"],
  statuses: Object.entries(reported).map(([context, state]) => status(context, state)),
  ...change,
});

describe("what is required", () => {
  const required = (own: readonly string[] | null, tip: readonly string[] | null | undefined) => {
    const { state } = aQueue({ requiredStatuses: own });
    return requiredNow({ config: state.config, tip: tip === undefined ? null : aTip("T0", tip) });
  };

  it("is the queue's own list, else what the tip names, else nothing", () => {
    expect(required(["a"], ["b"])).toEqual({ statuses: ["a"], source: "MERGE_INSTANCE" });
    expect(required([], ["b"])).toEqual({ statuses: ["b"], source: "CONFIG_FILE" });
    expect(required(null, ["b"])).toEqual({ statuses: ["b"], source: "CONFIG_FILE" });
    expect(required(null, null)).toEqual({ statuses: [], source: "CONFIG_FILE" });
    expect(required(null, undefined)).toEqual({ statuses: [], source: "CONFIG_FILE" });
  });
});

describe("the verdict", () => {
  const of = (...args: Parameters<typeof run>) => verdictOf(run(...args), ["unit", "lint"]);

  it("is a pass when all that is required has passed, whatever else failed", () => {
    expect(of({ unit: "SUCCESS", lint: "SUCCESS", other: "FAILURE" })).toEqual({ kind: "PASSED" });
  });

  it("is open while one is still to come", () => {
    expect(of({ unit: "SUCCESS" })).toEqual({ kind: "OPEN", waitsFor: ["lint"] });
    expect(of({ unit: "PENDING" })).toEqual({ kind: "OPEN", waitsFor: ["unit", "lint"] });
    expect(of({ unit: "PENDING", lint: "SUCCESS" }, { complete: true })).toEqual({ kind: "OPEN", waitsFor: ["unit"] });
  });

  it.each(["FAILURE", "ERROR"] as const)("is a failure at the first %s, and names what is still to come", (state) => {
    const failure = { kind: "CHECKS", contexts: ["unit"] };
    expect(of({ unit: state })).toEqual({ kind: "FAILED", failure, open: ["lint"] });
    expect(of({ unit: state, lint: "SUCCESS" })).toEqual({ kind: "FAILED", failure, open: [] });
  });

  it("is a failure of one that will never come", () => {
    const failure = { kind: "CHECKS", contexts: ["lint"] };
    expect(of({ unit: "SUCCESS" }, { complete: true })).toEqual({ kind: "FAILED", failure, open: [] });
  });

  it("is a failure, never a pass, where nothing is required", () => {
    const failure = { kind: "NO_REQUIRED_STATUSES", contexts: [] };
    expect(verdictOf(run({ unit: "SUCCESS" }), [])).toEqual({ kind: "FAILED", failure, open: [] });
  });

  it("is none where something became required since that failed or never came: a full run is needed", () => {
    const now = ["unit", "deploy"];
    const lacks = { kind: "LACKS", contexts: ["deploy"] };
    expect(verdictOf(run({ unit: "FAILURE", deploy: "FAILURE" }), now)).toEqual(lacks);
    expect(verdictOf(run({ unit: "SUCCESS" }, { complete: true }), now)).toEqual(lacks);
    expect(verdictOf(run({ unit: "SUCCESS", deploy: "SUCCESS" }), now)).toEqual({ kind: "PASSED" });
  });

  it("lacks what is not shown as passed", () => {
    const passed = run({ unit: "SUCCESS", lint: "PENDING", e2e: "FAILURE" });
    expect(lackingNow(passed, ["unit", "lint", "e2e", "deploy"])).toEqual(["lint", "e2e", "deploy"]);
  });
});
