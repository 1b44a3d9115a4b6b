import * as z from "zod";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../../../shared/api/routes.ts";
import { recaseOf } from "../../../shared/http/casing.ts";
import { wireEnum, wireWord } from "../../../shared/schemas/wire.ts";

const state = wireEnum(["NOT_READY", "MERGED"]);

describe("enums are lowered", () => {
  it.each([
    ["alone", state, "NOT_READY", "not_ready"],
    ["in objects", z.object({ a: state, b: z.string() }), { a: "MERGED", b: "MERGED" }, { a: "merged", b: "MERGED" }],
    ["in lists", z.array(z.object({ a: state })), [{ a: "MERGED" }], [{ a: "merged" }]],
    ["in records", z.record(z.string(), state), { X: "MERGED" }, { X: "merged" }],
    ["where null is allowed", z.object({ a: state.nullable() }), { a: null }, { a: null }],
    ["where they may be missing", z.object({ a: state.optional(), b: z.int() }), { b: 1 }, { b: 1 }],
    ["in a union's branch", z.union([z.array(state), z.literal("ALL")]), ["MERGED"], ["merged"]],
    ["not in a literal", z.union([z.array(state), z.literal("ALL")]), "ALL", "ALL"],
    ["with a description", z.object({ a: state.meta({ description: "x" }) }), { a: "MERGED" }, { a: "merged" }],
    ["as open words", wireWord().nullable(), "TESTS_FAILED", "tests_failed"],
  ])("%s", (_, schema, value, expected) => {
    const before = structuredClone(value);
    expect(recaseOf(schema)?.(value)).toEqual(expected);
    expect(value).toEqual(before);
  });
});

it("a schema without them costs nothing", () => {
  expect(recaseOf(z.object({ a: z.string(), b: z.array(z.object({ c: z.int() })), d: z.enum(["X"]) }))).toBeUndefined();
});

it("a kind of schema without a rule is refused when the handler is made, not ignored", () => {
  expect(() => recaseOf(z.object({ a: z.tuple([state]) }))).toThrow("tuple");
});

it("a field that an object does not have is not made up", () => {
  expect(recaseOf(z.object({ a: state.optional() }))?.({})).toEqual({});
});

it.each(allRoutes.map((route) => [route.id, route] as const))("every route's reply has its rule: %s", (_, route) => {
  expect(() => recaseOf(route.reply)).not.toThrow();
  if (route.tag === "Test health") expect(recaseOf(route.reply)).toBeUndefined();
});
