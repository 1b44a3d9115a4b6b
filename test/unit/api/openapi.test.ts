import { readFileSync } from "node:fs";
import * as z from "zod";
import { describe, expect, it } from "vitest";
import { openApi } from "../../../shared/api/openapi.ts";
import { codesOf } from "../../../shared/api/openapi-responses.ts";
import { STATUS_OF } from "../../../shared/api/error-codes.ts";
import { allRoutes } from "../../../shared/api/routes.ts";
import { API_VERSION } from "../../../shared/api/version.ts";

const operation = z.looseObject({ operationId: z.string(), responses: z.record(z.string(), z.unknown()) });
const shape = z.looseObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ version: z.string() }),
  servers: z.tuple([z.object({ url: z.literal("/v1") })]),
  paths: z.record(z.string(), z.partialRecord(z.enum(["get", "post"]), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});
const document = openApi();
const read = shape.parse(document);
const text = JSON.stringify(document);

const resolve = (pointer: string): unknown =>
  pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => z.record(z.string(), z.unknown()).parse(at)[key], document);

describe("the OpenAPI document", () => {
  it("that is committed is what the route table says", () => {
    const committed = readFileSync(new URL("../../../shared/api/openapi.json", import.meta.url), "utf8");
    expect(committed).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it("holds every route once, with an operation id of its own", () => {
    const found = Object.entries(read.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, of]) => ({ name: `${method} ${path}`, id: of?.operationId })),
    );
    const expected = allRoutes.map((route) => `${route.method.toLowerCase()} ${route.path}`);
    expect(found.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
    expect(new Set(found.map(({ id }) => id)).size).toBe(allRoutes.length);
  });

  it.each(allRoutes.map((route) => [route.id, route] as const))("lists every status of %s", (_, route) => {
    const method = route.method === "GET" ? "get" : "post";
    const statuses = codesOf(route).map((code) => String(STATUS_OF[code]));
    const listed = Object.keys(read.paths[route.path]?.[method]?.responses ?? {});
    expect(new Set(listed)).toEqual(new Set(["200", ...statuses]));
  });

  it("refers to nothing that it lacks", () => {
    const refs = [...text.matchAll(/"\$ref":"(?<ref>[^"]+)"/gu)].map((match) => match.groups?.["ref"] ?? "");
    expect(refs.length).toBeGreaterThan(100);
    for (const ref of new Set(refs)) expect(resolve(ref)).toBeDefined();
  });

  it("has no shape that is only a name", () => {
    const names = Object.entries(read.components.schemas).filter(([, schema]) => Object.hasOwn(Object(schema), "$ref"));
    expect(names).toEqual([]);
  });

  it("shares shapes instead of repeating them", () => {
    expect(Object.keys(read.components.schemas)).toEqual(
      expect.arrayContaining([
        "Error",
        "Explanation",
        "Queue",
        "Repo",
        "StatusCheck",
        "SubmittedPullRequest",
        "TestRun",
      ]),
    );
  });

  it("holds no trace of the tool that made its schemas", () => {
    expect(text).not.toMatch(/"wire":|\$defs|\$schema|9007199254740991|"additionalProperties":false/u);
  });

  it("has the package's version", () => {
    const pkg = z.object({ version: z.string() }).parse(JSON.parse(readFileSync("package.json", "utf8")));
    expect([read.info.version, API_VERSION]).toEqual([pkg.version, pkg.version]);
  });
});
