/** From a matched request to its route: authentication, permission, the repository and its turn. */
import { checkAppToken } from "../auth/jwt.ts";
import { mayReach, requirePermission, tokenOf } from "../auth/tokens.ts";
import { notifies } from "../shapes/published.ts";
import { notice } from "../content/notice.ts";
import { botOf, findRepository, inTurn, type Repository, type World } from "../world.ts";
import { type Actor, type Answer, type Call, notFound, redirect, Refusal, type Route } from "./call.ts";
import type { Limits } from "./limits.ts";
import type { Match } from "./router.ts";

export type Asked = {
  readonly authorization: string | undefined;
  readonly accept: string;
  readonly url: URL;
  /** Undefined: not JSON, or too large. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
};

type RepositoryRoute = Extract<Route, { as: "REPOSITORY" }>;

const READS = new Set(["GET", "HEAD"]);

export async function perform(world: World, limits: Limits, match: Match, asked: Asked): Promise<Answer> {
  const { route, params } = match;
  const call = (actor: Actor): Call => ({
    world,
    actor,
    sender: botOf(world),
    params,
    query: asked.url.searchParams,
    body: asked.body ?? {},
    accept: asked.accept,
  });
  if (route.as === "ANYBODY") return route.handle(call({ kind: "APP" }));
  const actor = actorOf(world, asked.authorization);
  if (!limits.take(asked.authorization)) throw exceeded();
  const wait = notifies(route.operation) ? limits.takeContent(asked.authorization) : null;
  if (wait !== null) throw tooQuick(wait);
  if (route.as === "REPOSITORY") return onRepository(world, route, call(actor), asked.url);
  requireKind(route.as, actor);
  return route.handle(call(actor));
}

const exceeded = (): Refusal => new Refusal(403, "API rate limit exceeded for installation.");

const tooQuick = (seconds: number): Refusal =>
  new Refusal(
    403,
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation.",
    {},
    { "retry-after": `${seconds}` },
  );

function requireKind(kind: "APP" | "INSTALLATION", actor: Actor): void {
  if (kind === actor.kind) return;
  throw kind === "APP"
    ? new Refusal(401, "A JSON web token could not be decoded")
    : new Refusal(403, "Resource not accessible by integration");
}

function actorOf(world: World, authorization: string | undefined): Actor {
  const [, text] = /^(?:bearer|token)\s+(\S+)$/iu.exec(authorization ?? "") ?? [];
  if (text === undefined) throw new Refusal(401, "Requires authentication");
  if (text.startsWith("ghs_")) {
    const token = tokenOf(world, text);
    return { kind: "INSTALLATION", installation: token.installation, token };
  }
  if (text.split(".").length !== 3) throw new Refusal(401, "Bad credentials");
  checkAppToken(world.app, text, world.now());
  return { kind: "APP" };
}

async function onRepository(world: World, route: RepositoryRoute, call: Call, url: URL): Promise<Answer> {
  const name = `${call.params["owner"]}/${call.params["repo"]}`;
  const repo = findRepository(world, name);
  if (repo === undefined) return moved(world, name, url);
  const { actor } = call;
  if (route.needs !== null) {
    if (actor.kind === "APP") throw new Refusal(401, "Bad credentials");
    if (!mayReach(actor.token, repo.id)) throw notFound();
    requirePermission(actor.token, route.needs.permission, route.needs.level);
  }
  return inTurn(repo, async () => {
    await notice(world, repo);
    try {
      return await route.handle({ ...call, repo });
    } finally {
      if (!READS.has(route.operation.split(" ")[0] ?? "")) await notice(world, repo, call.sender);
    }
  });
}

/** A renamed repository redirects to its id, until another one takes the name. */
function moved(world: World, name: string, url: URL): Answer {
  const repo: Repository | undefined = world.repositories.find((one) => one.formerly.has(name.toLowerCase()));
  if (repo === undefined) throw notFound();
  const rest = url.pathname.split("/").slice(url.pathname.startsWith("/api/v3/") ? 6 : 4);
  return redirect(world, `${["/repositories", repo.id, ...rest].join("/")}${url.search}`);
}
