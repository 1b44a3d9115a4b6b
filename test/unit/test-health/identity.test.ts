import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TestName, testIdOf } from "../../../shared/test-health/app/identity.ts";

const NAMELESS: TestName = {
  org: "",
  repo: "",
  file: "",
  classname: "",
  parent: "",
  name: "",
  id: "",
  variant: "",
};
const aTest = (more: Partial<TestName> = {}): TestName => ({ ...NAMELESS, ...more });

const ONE = aTest({
  org: "org_slug",
  repo: "host/owner/name",
  file: "file",
  classname: "class_name",
  parent: "parent_name",
  name: "test_name",
});
const ANOTHER = aTest({
  org: "example_org",
  repo: "example_repo",
  file: "src/lib.rs",
  classname: "ExampleClass",
  parent: "parent/fact/path",
  name: "example_name",
});
const V5 = "a6e84936-3ee9-57d5-b041-ae124896f654";
const V4 = "08e1c642-3a55-45cf-8bf9-b9d0b21785dd";

describe("the identity of a test", () => {
  test.each([
    ["of all its names", ONE, "aad1f138-09ab-5ea9-9c21-af48a03d6edd"],
    ["of all its names, another", ANOTHER, "06cb6db5-f807-5198-b072-af67a0636f8a"],
    ["with a variant", { ...ANOTHER, variant: "unix" }, "1bf61475-b542-5faf-aa85-e66a691257a3"],
    ["of its own id", { ...ONE, id: "trunk:example-id" }, "208beb01-6179-546e-b0dd-8502e24ae85c"],
    [
      "of its own id and a variant",
      { ...ANOTHER, id: "trunk:12345", variant: "unix" },
      "4392f63c-8dc9-5cec-bbdc-e7b90c2e5a6b",
    ],
    ["of an id that is one", { ...ANOTHER, id: V5 }, V5],
    [
      "of an id that is one, with a variant",
      { ...ANOTHER, id: V5, variant: "unix" },
      "8057218b-95e4-5373-afbe-c366d4058615",
    ],
    ["without a file and a name", { ...ANOTHER, file: "", name: "" }, "5089f683-a2e4-5dc2-8a01-d3dffaacb911"],
  ])("%s is what clients compute", (_, named, id) => {
    expect(testIdOf(named)).toBe(id);
  });

  test.each([
    V4,
    "12345",
    "trunk",
    "TRUNK:1",
    `${V5}0`,
    `x${V5}`,
    `{${V5}`,
    `${V5}}`,
    `urn:uuid:${V5}}`,
    V5.replace("-", ""),
  ])("an id of %j says nothing", (id) => {
    expect(testIdOf({ ...ANOTHER, id })).toBe(testIdOf(ANOTHER));
    expect(testIdOf({ ...ANOTHER, id, variant: "unix" })).toBe(testIdOf({ ...ANOTHER, variant: "unix" }));
  });

  test.each([V5, V5.toUpperCase(), V5.replaceAll("-", ""), `{${V5}}`, `urn:uuid:${V5}`])(
    "an id of %j is used as it stands",
    (id) => {
      expect(testIdOf({ ...ANOTHER, id })).toBe(id);
    },
  );

  test("its own id holds wherever the test moves, within its repository", () => {
    const here = { ...ANOTHER, id: "trunk:x" };
    expect(testIdOf({ ...here, file: "moved.rs", name: "renamed", parent: "", classname: "" })).toBe(testIdOf(here));
    expect(testIdOf({ ...here, repo: "other" })).not.toBe(testIdOf(here));
    expect(testIdOf({ ...here, org: "other" })).not.toBe(testIdOf(here));
    expect(testIdOf({ ...here, variant: "unix" })).not.toBe(testIdOf(here));
  });

  test("every name counts, in its own place", () => {
    const parts = ["org", "repo", "file", "classname", "parent", "name", "variant"] as const;
    const ids = parts.map((part) => testIdOf(aTest({ [part]: "x" })));
    expect(new Set([...ids, testIdOf(aTest())]).size).toBe(parts.length + 1);
  });

  test("whatever it is called, it is a UUID of version 5", () => {
    const names = fc.record({
      org: fc.string(),
      repo: fc.string(),
      file: fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
      classname: fc.string(),
      parent: fc.string(),
      name: fc.string({ maxLength: 100 }),
      id: fc.oneof(fc.constant(""), fc.string(), fc.uuid({ version: 4 })),
      variant: fc.oneof(fc.constant(""), fc.string()),
    });
    fc.assert(
      fc.property(names, (named) => {
        expect(testIdOf(named)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u);
      }),
    );
  });

  test.each([1, 1_000, 100_000])("a name of %d characters is hashed whole", (length) => {
    const named = aTest({ name: "語".repeat(length) });
    const whole = Buffer.concat([
      Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex"),
      Buffer.from(`#####${named.name}#JUNIT_TESTCASE`),
    ]);
    const digest = createHash("sha1").update(whole).digest("hex");
    expect(testIdOf(named).replaceAll("-", "").slice(0, 12)).toBe(digest.slice(0, 12));
    expect(testIdOf(named).slice(-12)).toBe(digest.slice(20, 32));
  });

  test("names of an odd alphabet are hashed as UTF-8", () => {
    expect(testIdOf(aTest({ name: "Prüfung 😀" }))).toBe("fa29e6d5-da04-5f80-a780-1462337ead78");
  });
});
