/** HTTP in front of the routes: who asks, faults, limits, pages, entity tags, and the check of every answer. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { aboutAnswer, aboutRequest } from "../shapes/published.ts";
import type { Operation } from "../shapes/used.ts";
import type { Fault, FaultPlan } from "../faults.ts";
import type { World } from "../world.ts";
import { type Answer, Refusal } from "./call.ts";
import { type Asked, perform } from "./perform.ts";
import type { Limits } from "./limits.ts";
import type { Match, Router } from "./router.ts";

export type Serving = {
  readonly world: World;
  readonly router: Router;
  readonly faults: FaultPlan;
  readonly limits: Limits;
  readonly count: (operation: Operation) => void;
  /** Where the twin's answers were not GitHub's. */
  readonly lies: string[];
};

const BODY_MOST = 32 * 1024 * 1024;

export const createTwinServer = (serving: Serving): Server =>
  createServer((request, response) => {
    answer(serving, request, response).catch((error: unknown) => {
      serving.lies.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      if (!response.headersSent) send(response, { status: 500, body: { message: "the twin broke" } }, request, "");
    });
  });

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", serving.world.url);
  const path = url.pathname.replace(/^\/api\/v3(?=\/)/u, "").replace(/(?<=.)\/$/u, "");
  const method = request.method ?? "GET";
  const body = await read(request);
  const match = serving.router(method, alias(serving.world, path));
  if (match !== undefined) serving.count(match.route.operation);
  const faults = serving.faults.ofRequest(`${method} ${path}`);
  const asked: Asked = {
    authorization: request.headers.authorization,
    accept: request.headers.accept ?? "",
    url,
    body,
  };
  const given = await faulty(faults, () => respond(serving, match, asked));
  if (given === "SILENT") return;
  if (given === "CUT") {
    request.socket.destroy();
    return;
  }
  send(
    response,
    { ...given, headers: { ...serving.limits.headers(asked.authorization), ...given.headers } },
    request,
    url.href,
  );
}

async function faulty(faults: readonly Fault[], work: () => Promise<Answer>): Promise<Answer | "CUT" | "SILENT"> {
  for (const fault of faults) {
    if (fault.kind === "DELAY") await sleep(fault.ms);
    if (fault.kind === "HOLD") await fault.until();
  }
  const fault = faults.find((one) => one.kind !== "DELAY" && one.kind !== "HOLD");
  if (fault?.kind === "STATUS") return { status: fault.status, body: { message: fault.message } };
  if (fault?.kind === "LIMIT") return limited(fault.limit);
  const done = await work();
  return fault?.kind === "UNANSWERED" ? fault.how : done;
}

function limited(limit: Extract<Fault, { kind: "LIMIT" }>["limit"]): Answer {
  const status = limit.status ?? 403;
  const seconds = limit.seconds ?? 60;
  const documentation_url = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api";
  if (limit.kind === "SECONDARY") {
    const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    return { status, body: { message, documentation_url }, headers: { "retry-after": `${seconds}` } };
  }
  const reset = Math.ceil(Date.now() / 1000) + seconds;
  return {
    status,
    body: { message: "API rate limit exceeded for installation.", documentation_url },
    headers: { "x-ratelimit-remaining": "0", "x-ratelimit-used": "5000", "x-ratelimit-reset": `${reset}` },
  };
}

async function respond(serving: Serving, match: Match | undefined, asked: Asked): Promise<Answer> {
  if (match === undefined) return new Refusal(404, "Not Found").answer;
  const { operation } = match.route;
  const given = await guarded(async () => {
    const wrong = aboutRequest(operation, asked.body);
    if (asked.body === undefined || wrong.length > 0) throw new Refusal(422, `Invalid request.\n\n${wrong.join("\n")}`);
    return perform(serving.world, serving.limits, match, asked);
  });
  if (given.raw === undefined && given.status !== 304)
    serving.lies.push(...aboutAnswer(operation, given.status, given.body));
  return given;
}

async function guarded(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

/** `/repositories/<id>/…` is the same as the repository under its present name. */
function alias(world: World, path: string): string {
  const [, id, rest = ""] = /^\/repositories\/(\d+)(\/.*)?$/u.exec(path) ?? [];
  const repo = world.repositories.find((one) => `${one.id}` === id);
  return repo === undefined ? path : `/repos/${repo.owner.login}/${repo.name}${rest}`;
}

async function read(request: IncomingMessage): Promise<Asked["body"]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > BODY_MOST) return undefined;
    chunks.push(bytes);
  }
  if (size === 0) return {};
  try {
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof parsed === "object" && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : undefined;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, given: Answer, request: IncomingMessage, href: string): void {
  const { "x-pages": pages, ...headers } = given.headers ?? {};
  const bytes = given.raw ?? (given.body === undefined ? "" : JSON.stringify(given.body));
  const etag = `W/"${createHash("sha256").update(bytes).digest("hex")}"`;
  const isRead = request.method === "GET" && given.status === 200;
  const unchanged = isRead && request.headers["if-none-match"] === etag;
  response.writeHead(unchanged ? 304 : given.status, {
    "content-type": given.raw === undefined ? "application/json; charset=utf-8" : "application/octet-stream",
    "x-github-media-type": "github.v3; format=json",
    "x-github-api-version-selected": "2022-11-28",
    "x-github-request-id": createHash("md5").update(`${href}${bytes.length}`).digest("hex"),
    ...(isRead ? { etag, "cache-control": "private, max-age=60, s-maxage=60" } : {}),
    ...(pages === undefined ? {} : { link: linked(pages, href) }),
    ...headers,
  });
  response.end(unchanged ? "" : bytes);
}

const linked = (pages: string, href: string): string =>
  pages
    .split(",")
    .map((one) => {
      const [rel = "", number = ""] = one.split("=");
      const url = new URL(href);
      url.searchParams.set("page", number);
      return `<${url.href}>; rel="${rel}"`;
    })
    .join(", ");
