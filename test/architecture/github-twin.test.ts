import { describe, expect, test } from "vitest";
import { sourcesUnder } from "./source.ts";

const TWIN = "test/support/github/";
/** Starts git for it, cheaply, and knows nothing of GitHub. */
const LAUNCHER = "shared/code-host/git/launcher.ts";
const FILE_LINES_MAX = 330;

const twin = sourcesUnder("test/support/github");
const production = sourcesUnder("shared", "functions", "infra");

describe("the twin of GitHub", () => {
  test("knows nothing of the service that is tested against it", () => {
    expect(twin.length).toBeGreaterThan(40);
    const foreign = twin.flatMap((source) =>
      source.imports
        .filter(({ file, specifier }) =>
          file === undefined
            ? !(specifier.startsWith("node:") || specifier === "@octokit/openapi-types")
            : !file.startsWith(TWIN) && file !== LAUNCHER,
        )
        .map((one) => `${source.path} imports ${one.specifier}`),
    );
    expect(foreign).toEqual([]);
  });

  test("is imported by tests and by nothing else", () => {
    const users = production.filter((source) => source.imports.some((one) => one.file?.startsWith("test/") === true));
    expect(users.map((source) => source.path)).toEqual([]);
  });

  test("has no dead file, and none that is long", () => {
    const imported = new Set(sourcesUnder("test").flatMap((source) => source.imports.map((one) => one.file)));
    const started = [`${TWIN}serve.ts`, `${TWIN}shapes/make.ts`];
    const dead = twin.filter((source) => !imported.has(source.path) && !started.includes(source.path));
    expect(dead.map((source) => source.path)).toEqual([]);
    expect(twin.filter((source) => source.text.split("\n").length > FILE_LINES_MAX).map((one) => one.path)).toEqual([]);
  });
});
