import { describe, expect, test } from "vitest";
import { type Import, type Source, sourcesUnder } from "./source.ts";

const DEPLOYED = [
  "infra/config.ts",
  "infra/needs.ts",
  "infra/rights.ts",
  "infra/workers.ts",
  "shared/table/partitions.ts",
  "shared/table/table-definition.ts",
  "shared/schemas/maintenance.ts",
];

/**
 * Who may import whom. A folder may always import itself. The longest rule that fits a file counts.
 * Adapters (table, code-host) may see the ports they implement, and nothing else of the use cases.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "shared/kernel": [],
  "shared/maintenance": ["shared/kernel"],
  "shared/scheduler": ["shared/kernel"],
  "shared/schemas": ["shared/maintenance", "shared/kernel"],
  "shared/api": ["shared/schemas", "shared/kernel"],
  "shared/http": ["shared/api", "shared/schemas", "shared/kernel"],
  "shared/auth": ["shared/kernel"],
  "shared/metrics": ["shared/kernel"],
  "shared/queue/engine": ["shared/kernel"],
  "shared/queue/app": [
    "shared/queue/engine",
    "shared/maintenance",
    "shared/kernel",
    "shared/code-host/people.ts",
    "shared/code-host/port.ts",
    "shared/scheduler/port.ts",
  ],
  "shared/blobs": [
    "shared/queue/app/ports.ts",
    "shared/queue/app/uploads.ts",
    "shared/test-health/app/ports.ts",
    "shared/kernel",
  ],
  "shared/code-host": ["shared/queue/engine/types.ts", "shared/schemas", "shared/kernel"],
  "shared/test-health/junit": ["shared/kernel"],
  "shared/test-health/detect": ["shared/kernel"],
  "shared/test-health/app": ["shared/test-health", "shared/kernel"],
  "shared/table": [
    "shared/code-host/github/port.ts",
    "shared/code-host/github/show-port.ts",
    "shared/queue/engine/types.ts",
    "shared/queue/app/people/ports.ts",
    "shared/queue/app/ports.ts",
    "shared/queue/app/window-ports.ts",
    "shared/scheduler/port.ts",
    "shared/maintenance",
    "shared/test-health/detect/history.ts",
    "shared/test-health/app/ports.ts",
    "shared/test-health/app/settings.ts",
    "shared/schemas",
    "shared/kernel",
  ],
  functions: ["shared"],
  infra: ["functions", "shared"],
  // What is deployed follows from the tables of routes and workers, and never from what a function's code is made of.
  "infra/constructs": [...DEPLOYED, "shared/api"],
  "infra/stacks": [...DEPLOYED, "infra/constructs", "shared/api"],
};

/** These hold the decisions: no package, no `node:` module, no clock, no randomness, no environment. */
const PURE = [
  "shared/kernel",
  "shared/maintenance",
  "shared/queue/engine",
  "shared/test-health/detect",
  "shared/test-health/junit",
];
/** What the reading of XML is, and nothing else, is theirs. */
const READERS = new Set(["saxes", "htmlparser2"]);
const IMPURE = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.|\bsetTimeout\(|\bfetch\(|\bcrypto\./u;
/** The one clock, handed in as a port. */
const CLOCK = "shared/kernel/time.ts";

const sources = sourcesUnder("shared", "functions", "infra");

const isWithin = (file: string, place: string): boolean => file === place || file.startsWith(`${place}/`);

function ruleFor(path: string): string | undefined {
  const fitting = Object.keys(ALLOWED).filter((place) => isWithin(path, place));
  return fitting.sort((a, b) => b.length - a.length)[0];
}

const mayImport = (from: Source, to: Import): boolean => {
  const rule = ruleFor(from.path);
  if (rule === undefined || to.file === undefined) return rule !== undefined;
  const { file } = to;
  return isWithin(file, rule) || (ALLOWED[rule] ?? []).some((place) => isWithin(file, place));
};

const isReaderOf = (path: string, specifier: string): boolean =>
  isWithin(path, "shared/test-health/junit") && READERS.has(specifier);

describe("imports", () => {
  test("the files that are judged were found", () => {
    expect(sources.length).toBeGreaterThan(120);
    const empty = Object.keys(ALLOWED).filter((place) => !sources.some((source) => isWithin(source.path, place)));
    expect(empty).toEqual([]);
    expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(400);
  });

  test("each folder imports only what stands below it", () => {
    const wrong = sources.flatMap((source) =>
      source.imports.filter((one) => !mayImport(source, one)).map((one) => `${source.path} imports ${one.specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  test("the pure folders use no package, no node module, no clock, no randomness, no environment", () => {
    const pure = sources.filter((source) => PURE.some((place) => isWithin(source.path, place)));
    const packages = pure.flatMap((source) =>
      source.imports
        .filter(({ file, specifier }) => file === undefined && !isReaderOf(source.path, specifier))
        .map((one) => `${source.path} imports ${one.specifier}`),
    );
    expect(packages).toEqual([]);
    const impure = pure.filter((source) => source.path !== CLOCK && IMPURE.test(source.text));
    expect(impure.map((source) => source.path)).toEqual([]);
  });

  test("only shared/http knows middy, only shared/table speaks DynamoDB, and only shared/blobs S3", () => {
    const users = (of: RegExp): readonly string[] =>
      sources.filter((source) => source.imports.some((one) => of.test(one.specifier))).map((source) => source.path);
    expect(users(/^@middy\//u).filter((path) => !isWithin(path, "shared/http"))).toEqual([]);
    const elsewhere = users(/^@aws-sdk\/(?:client-dynamodb|lib-dynamodb)$/u).filter(
      // Backups and deletion are of the table as a whole: what is in it they leave to its own folder.
      (path) => !["shared/table", "infra/local", "infra/admin"].some((place) => isWithin(path, place)),
    );
    expect(elsewhere).toEqual([]);
    const onS3 = users(/^@aws-sdk\/(?:client-s3|s3-)/u).filter(
      (path) => !["shared/blobs", "infra/admin"].some((place) => isWithin(path, place)),
    );
    expect(onS3).toEqual([]);
  });

  test("only what is deployed knows the CDK, and only its entry reads account and region", () => {
    const deploys = (path: string): boolean => /^infra\/(?:app\.ts$|stacks\/|constructs\/)/u.test(path);
    const users = sources.filter((source) =>
      source.imports.some((one) => /^(?:aws-cdk-lib|constructs)/u.test(one.specifier)),
    );
    expect(users.length).toBeGreaterThan(10);
    expect(users.map((source) => source.path).filter((path) => !deploys(path))).toEqual([]);
    const readers = sources.filter((source) => source.text.includes("CDK_DEFAULT_")).map((source) => source.path);
    expect(readers).toEqual(["infra/app.ts"]);
  });

  test("zod is imported as a namespace: the named import bundles every locale", () => {
    const named = sources.filter((source) => /import\s*\{[^}]*\}\s*from\s*"zod"/u.test(source.text));
    expect(named.map((source) => source.path)).toEqual([]);
  });

  test("there are no barrel files", () => {
    const barrels = sources.filter((source) =>
      /(?:^|\n)export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s+from/u.test(source.text),
    );
    expect(barrels.map((source) => source.path)).toEqual([]);
  });
});
