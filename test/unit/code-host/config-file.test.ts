import { describe, expect, test } from "vitest";
import { parseConfigFile } from "../../../shared/code-host/git/config-file.ts";

const read = (text: string) => parseConfigFile(Buffer.from(text));
const problem = (text: string): string => {
  const answer = read(text);
  return answer.kind === "PROBLEM" ? answer.what : answer.kind;
};

describe(".mainline.yaml", () => {
  test("gives checks in their order and the required statuses once each", () => {
    const answer = read("checks:\n  unit: npm test\n  lint: npx lint\nrequired_statuses: [lint, lint, other]\n");
    expect(answer).toEqual({
      kind: "READ",
      config: {
        checks: new Map([
          ["unit", "npm test"],
          ["lint", "npx lint"],
        ]),
        requiredStatuses: ["lint", "other"],
        targets: undefined,
        reports: new Map(),
      },
    });
  });

  test("gives targets and their globs, and tells none from a mapping that is empty", () => {
    const targetsOf = (text: string) => {
      const answer = read(text);
      return answer.kind === "READ" ? answer.config.targets : answer.kind;
    };
    expect(targetsOf("targets:\n  web: ['web/**']\n  api: [api/**, proto/**]\n")).toEqual(
      new Map([
        ["web", ["web/**"]],
        ["api", ["api/**", "proto/**"]],
      ]),
    );
    expect(targetsOf("targets: {__proto__: ['a/[id]/**'], none: []}")).toEqual(
      new Map([
        ["__proto__", ["a/[id]/**"]],
        ["none", []],
      ]),
    );
    expect(targetsOf("targets: {}")).toEqual(new Map());
    expect(targetsOf("targets:\n")).toBeUndefined();
    expect(targetsOf("checks: {unit: 'true'}")).toBeUndefined();
  });

  test("gives the reports of checks, one or several each", () => {
    const answer = read("reports: {unit: junit.xml, e2e: [out/a.xml, out/b.xml]}");
    expect(answer.kind === "READ" ? Object.fromEntries(answer.config.reports) : answer).toEqual({
      unit: ["junit.xml"],
      e2e: ["out/a.xml", "out/b.xml"],
    });
  });

  test("ignores keys that it does not know, and may be empty", () => {
    expect(read("artifacts: ['*.xml']\n").kind).toBe("READ");
    expect(read("").kind).toBe("READ");
    expect(read("# nothing\n").kind).toBe("READ");
    expect(read("checks:\nrequired_statuses:\n").kind).toBe("READ");
  });

  test("takes __proto__ and constructor as names like any others", () => {
    const answer = read("checks: {__proto__: 'true', constructor: 'true'}\n__proto__: {checks: {x: y}}\n");
    expect(answer.kind === "READ" ? [...answer.config.checks.keys()] : []).toEqual(["__proto__", "constructor"]);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("checks");
  });

  test.each([
    ["broken YAML", "checks: {unit: [", /\.mainline\.yaml: /u],
    ["two documents", "a: 1\n---\nb: 2\n", /document/u],
    ["a list", "- a\n", /must be a mapping/u],
    ["text", "hello", /must be a mapping/u],
    ["checks as a list", "checks: [a]", /checks: must map names to shell commands/u],
    ["a command that is a number", "checks: {unit: 5}", /checks\.unit: a check must be a shell command/u],
    ["an empty command", "checks: {unit: ' '}", /must not be empty/u],
    ["a name that is a number", "checks: {1: 'true'}", /must be text/u],
    ["a name with a newline", 'checks: {"a\\nb": "true"}', /printable/u],
    ["a name of 201 characters", `checks: {? ${"x".repeat(201)} : 'true'}`, /at most 200/u],
    ["the same name twice", "checks: {a: x, a: y}", /unique/u],
    ["required_statuses as text", "required_statuses: unit", /list of names/u],
    ["101 checks", `checks: {${Array.from({ length: 101 }, (_, index) => `c${index}: x`).join(", ")}}`, /at most 100/u],
    ["targets as a list", "targets: ['web/**']", /targets: must map targets to lists of globs/u],
    ["a glob that is no list", "targets: {web: 'web/**'}", /targets\.web: must be a list of globs/u],
    ["a glob that is a number", "targets: {web: [5]}", /targets\.web\.0: a glob must be text/u],
    ["an empty glob", "targets: {web: ['']}", /a glob must not be empty/u],
    ["a glob of 201 characters", `targets: {web: ['${"x".repeat(201)}']}`, /a glob must be at most 200/u],
    ["a glob that begins with a slash", "targets: {web: ['/web/**']}", /begins at the root/u],
    ["a glob that leads out", "targets: {web: ['../web/**']}", /begins at the root/u],
    ["a glob that ends in a slash", "targets: {web: ['web/']}", /folder\/\*\*/u],
    ["a glob that excludes", "targets: {web: ['!web/**']}", /cannot exclude/u],
    ["a glob with choices", "targets: {web: ['{web,app}/**']}", /no choices in braces/u],
    ["a target with a newline", 'targets: {"a\\nb": ["x"]}', /a target must be printable/u],
    ["a target without a name", 'targets: {"": ["x"]}', /a target must not be empty/u],
    ["1,001 globs", `targets: {a: [${"x,".repeat(600)}], b: [${"y,".repeat(401)}]}`, /at most 1000 globs/u],
    ["more than 64 KiB", `# ${"x".repeat(64 * 1024)}`, /larger than 64 KiB/u],
    ["brackets without end", "[".repeat(60_000), /\.mainline\.yaml/u],
  ])("says what is wrong with %s", (_, text, words) => {
    expect(problem(text)).toMatch(words);
  });

  // Of 9^12 elements, which nobody could hold.
  test("does not expand a bomb of aliases", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 12; level++)
      lines.push(`a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(", ")}]`);
    expect(problem(lines.join("\n"))).toMatch(/alias/u);
  });
});
