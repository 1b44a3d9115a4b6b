import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { allRoutes } from "../../shared/api/routes.ts";
import { ROOT, sourcesUnder } from "./source.ts";

const sources = sourcesUnder("shared", "functions", "infra");
const tests = sourcesUnder("test");

/** What a person, npm, the gateway or the stream starts; everything else is there because something imports it. */
const ENTRIES = [
  /^functions\/(?:api|workers)\//u,
  /^infra\/(?:app|local\/(?:start|demo|pr)|admin\/(?:token|github-app|deploy|destroy|backup|restore)|smoke(?:-github)?)\.ts$/u,
  /^shared\/api\/write-openapi\.ts$/u,
];

const FILE_LINES_MAX = 330;
/** A vocabulary is read by looking words up. */
const VOCABULARY = "shared/queue/engine/types.ts";
const LINES_MEDIAN_MAX = 110;

describe("the house", () => {
  test("the top level holds nothing but what was agreed", () => {
    const agreed =
      /^(?:package(?:-lock)?\.json|tsconfig\.json|cdk\.json|infra|functions|shared|test|README\.md|LICENSE|\..*|vitest\.config\.ts|biome\.json)$/u;
    const listed = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);
    const top = new Set(listed.map((path) => path.split("/")[0] ?? ""));
    expect([...top].filter((name) => !agreed.test(name))).toEqual([]);
  });

  test("every route has its function file and a test that names it", () => {
    expect(allRoutes.length).toBeGreaterThan(15);
    const withoutFile = allRoutes.filter((route) => !existsSync(join(ROOT, "functions/api", `${route.id}.ts`)));
    expect(withoutFile.map((route) => route.id)).toEqual([]);
    const isNamed = (name: string): boolean => tests.some((one) => one.text.includes(name));
    const untested = allRoutes.filter((route) => !isNamed(route.path.slice(1)) && !isNamed(route.id));
    expect(untested.map((route) => route.id)).toEqual([]);
  });

  test("no file is dead", () => {
    const imported = new Set([...sources, ...tests].flatMap((source) => source.imports.map((one) => one.file)));
    // What is started as a process of its own is named beside the file that starts it.
    for (const { path, text } of sources)
      for (const [, started = ""] of text.matchAll(/new URL\("([^"]+\.ts)", import\.meta\.url\)/gu))
        imported.add(join(dirname(path), started));
    const dead = sources.filter(
      (source) => !imported.has(source.path) && !ENTRIES.some((entry) => entry.test(source.path)),
    );
    expect(dead.map((source) => source.path)).toEqual([]);
  });

  test("files stay small enough to read in one sitting", () => {
    const lines = sources.map((source) => source.text.split("\n").length).sort((a, b) => a - b);
    expect(lines[Math.floor(lines.length / 2)]).toBeLessThanOrEqual(LINES_MEDIAN_MAX);
    const long = sources.filter(
      (source) => source.text.split("\n").length > FILE_LINES_MAX && source.path !== VOCABULARY,
    );
    expect(long.map((source) => source.path)).toEqual([]);
  });

  test("keys of the table are made in one file", () => {
    const makers = sources.filter(
      (source) => source.path.startsWith("shared/table/") && /["'`]\d#[A-Z]/u.test(source.text),
    );
    expect(makers.map((source) => source.path)).toEqual(["shared/table/keys.ts"]);
  });

  test("dependencies are pinned exactly", () => {
    const manifest: { [section: string]: Record<string, string> } = JSON.parse(
      readFileSync(join(ROOT, "package.json"), "utf8"),
    );
    const sections = ["dependencies", "devDependencies", "optionalDependencies"];
    const versions = sections.flatMap((section) => Object.entries(manifest[section] ?? {}));
    expect(versions.length).toBeGreaterThan(10);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/u.test(version))).toEqual([]);
  });
});
