/** The README's tables are written by hand; these hold them to what they describe. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allRoutes } from "../../../shared/api/routes.ts";
import { SERIES } from "../../../shared/metrics/series.ts";
import { QUEUE_DEFAULTS } from "../../../shared/schemas/queue-settings.ts";

const ROOT = join(import.meta.dirname, "../../..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");
const rows = readme.split("\n").filter((line) => line.startsWith("|"));

const shown = (value: unknown): string =>
  typeof value === "string" ? `\`${value}\`` : Array.isArray(value) ? "[]" : String(value);

describe("the README", () => {
  it("names every endpoint with its scope", () => {
    const missing = allRoutes.filter(
      ({ path, scope }) =>
        !rows.some((row) => row.includes(`\`${path}\``) && row.includes(`| ${scope ?? "no token"} |`)),
    );
    expect(missing.map((route) => route.path)).toEqual([]);
  });

  it("names every setting with its default", () => {
    const wrong = Object.entries(QUEUE_DEFAULTS).filter(([name, value]) => {
      const row = rows.find((one) => one.split("|")[1]?.includes(`\`${name}\``));
      return row?.split("|")[3]?.trim() !== shown(value);
    });
    expect(wrong).toEqual([]);
  });

  it("names every series of the metrics, and no other", () => {
    const named = new Set(
      rows.flatMap((row) => row.match(/`(?:mq|mainline)_\w+/gu) ?? []).map((text) => text.slice(1)),
    );
    expect([...named].toSorted()).toEqual(Object.keys(SERIES).toSorted());
  });

  it("names only files that are there", () => {
    const paths = readme.match(/(?<=[`(])(?:shared|functions|infra)\/[\w/.-]+\.(?:ts|md|json)(?=[`)])/gu) ?? [];
    expect(paths.length).toBeGreaterThan(15);
    expect([...new Set(paths)].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
