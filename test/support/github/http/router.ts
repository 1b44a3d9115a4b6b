/** Finds the route of a request. Templates are GitHub's; the longest that fits wins. */
import type { Route } from "./call.ts";

export type Match = { readonly route: Route; readonly params: Readonly<Record<string, string>> };
export type Router = (method: string, path: string) => Match | undefined;

/** Their values may hold slashes. */
const DEEP = new Set(["ref", "branch", "path", "basehead", "name"]);

export function createRouter(routes: readonly Route[]): Router {
  const compiled = routes
    .map((route) => ({ route, ...compile(route.operation) }))
    .sort((a, b) => b.segments - a.segments || b.literals - a.literals);
  return (method, path) => {
    for (const { route, verb, pattern } of compiled) {
      const found = verb === method ? pattern.exec(path) : null;
      if (found !== null) return { route, params: decoded(found.groups ?? {}) };
    }
    return undefined;
  };
}

function compile(operation: string): { verb: string; pattern: RegExp; segments: number; literals: number } {
  const [verb = "", template = ""] = operation.split(" ");
  const parts = template.split("/");
  const source = parts.map((part) => {
    const name = /^\{(.+)\}$/u.exec(part)?.[1];
    if (name === undefined) return part.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
    return `(?<${name}>${DEEP.has(name) ? ".+" : "[^/]+"})`;
  });
  const literals = parts.filter((part) => !part.startsWith("{")).length;
  return { verb, pattern: new RegExp(`^${source.join("/")}$`, "u"), segments: parts.length, literals };
}

const decoded = (groups: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
