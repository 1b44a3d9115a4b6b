/**
 * Makes the subset of GitHub's OpenAPI document that the twin is held against:
 *
 *     npm pack @octokit/openapi@23.0.2        (385 MB unpacked, which is why it is no dependency)
 *     node test/support/github/shapes/make.ts <package>/generated/api.github.com.json
 *     npx biome format --write test/support/github/shapes
 *
 * Kept: shapes of request bodies and of answers, and what they refer to. Left out: prose and examples.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { EVENTS, OPERATIONS } from "./used.ts";

type Json = Record<string, unknown>;

const PROSE = new Set(["description", "example", "examples", "title", "default", "externalDocs", "deprecated"]);

const record = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};

/** Names under `properties` are GitHub's, whatever they are called. */
function bare(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !(PROSE.has(key) || key.startsWith("x-")));
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one, !isNames && key === "properties")]));
}

function shapeIn(holder: unknown, document: Json): unknown {
  const ref = record(holder)["$ref"];
  if (typeof ref === "string") return shapeIn(at(document, ref), document);
  const content = record(record(holder)["content"]);
  const media = content["application/json"] ?? content["application/scim+json"] ?? Object.values(content)[0];
  return media === undefined ? null : bare(record(media)["schema"]);
}

const at = (document: Json, ref: string): unknown =>
  ref
    .slice(2)
    .split("/")
    .reduce<unknown>((held, name) => record(held)[name], document);

/** There the document asks an account to be a user and an enterprise at once; elsewhere it is either. */
const CORRECTED: Json = {
  "GET /app/installations 200": { type: "array", items: { $ref: "#/components/schemas/installation" } },
};

function operation(name: string, document: Json): Json {
  const [method = "", path = ""] = name.split(" ");
  const found = record(record(record(document["paths"])[path])[method.toLowerCase()]);
  const responses = record(found["responses"]);
  if (Object.keys(responses).length === 0) throw new Error(`GitHub publishes no ${name}`);
  const answers = Object.entries(responses).map(([status, one]) => [
    status,
    CORRECTED[`${name} ${status}`] ?? shapeIn(one, document),
  ]);
  const notifies = record(found["x-github"])["triggersNotification"] === true;
  return { notifies, request: shapeIn(found["requestBody"], document), answers: Object.fromEntries(answers) };
}

function webhook(name: string, document: Json): unknown {
  const key = name.replaceAll(/[._]/gu, "-");
  const found = shapeIn(record(record(record(document["x-webhooks"])[key])["post"])["requestBody"], document);
  if (found === null) throw new Error(`GitHub publishes no webhook ${name}`);
  return found;
}

const named = (part: unknown): readonly string[] =>
  [...JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/gu)].map((match) => match[1] ?? "");

function referred(from: unknown, document: Json): Json {
  const found: Json = {};
  let names = named(from);
  while (names.length > 0) {
    const added = [...new Set(names)].filter((name) => found[name] === undefined);
    for (const name of added) found[name] = bare(at(document, `#/components/schemas/${name}`));
    names = added.flatMap((name) => named(found[name]));
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const document = record(JSON.parse(readFileSync(process.argv[2] ?? "/dev/stdin", "utf8")));
const operations = Object.fromEntries(OPERATIONS.map((name) => [name, operation(name, document)]));
const webhooks = Object.fromEntries(EVENTS.map((name) => [name, webhook(name, document)]));
const schemas = referred([operations, webhooks], document);
for (const [file, content] of Object.entries({ operations, webhooks, schemas }))
  writeFileSync(new URL(`${file}.json`, import.meta.url), JSON.stringify(content, null, 1));
