import { expect, it } from "vitest";
import { ERROR_CODES, STATUS_OF } from "../../../shared/api/error-codes.ts";
import { allRoutes, routes } from "../../../shared/api/routes.ts";

it("every route stands under its own id", () => {
  expect(Object.entries(routes).filter(([id, route]) => route.id !== id)).toEqual([]);
});

it("no two routes take the same method and path", () => {
  const names = allRoutes.map((route) => `${route.method} ${route.path}`);
  expect(new Set(names).size).toBe(names.length);
});

it("every id can be a file's name, and every path is one that a repeated slash leads to", () => {
  for (const route of allRoutes) {
    expect(route.id).toMatch(/^[a-z]+(?:-[a-z]+)*$/u);
    expect(route.path).toMatch(/^(?:\/[A-Za-z.-]+)+$/u);
  }
});

it("a scope stands where a token is needed, and only there", () => {
  for (const route of allRoutes) expect(route.scope === null).toBe(route.auth === "none");
});

it("only the read scope reads, and what writes has the table to write to", () => {
  for (const route of allRoutes.filter((one) => one.auth !== "none")) {
    expect(route.writes).toBe(route.tableAccess === "write");
    expect(route.writes).toBe(route.scope === "submit" || route.scope === "admin");
  }
});

it("without a token only what is signed may write", () => {
  const open = allRoutes.filter((one) => one.auth === "none" && one.tableAccess !== "none");
  expect(open.map(({ path, body }) => [path, body])).toEqual([["/webhooks/github", "signed"]]);
});

it("only setImpactedTargets lets a fork's workflow in", () => {
  expect(allRoutes.filter((route) => route.auth === "token-or-fork").map((route) => route.path)).toEqual([
    "/setImpactedTargets",
  ]);
});

it("every code is UPPER_SNAKE and an error's", () => {
  for (const code of ERROR_CODES) {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/u);
    expect(STATUS_OF[code]).toBeGreaterThanOrEqual(400);
  }
});
