import { describe, expect, it } from "vitest";
import { allRoutes, type RequestOf, routes } from "../../../shared/api/routes.ts";
import { toAuthorizerContext } from "../../../shared/http/authorizer-answer.ts";
import { endpoint } from "../../../shared/http/endpoint.ts";
import type { TokenRoute } from "../../../shared/http/use-case.ts";
import { fail, ok } from "../../../shared/kernel/result.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { aContext, anEvent, aPrincipal, call, errorOf, NOW, ports, REF, REF_PR } from "./support.ts";

const isToken = (route: (typeof allRoutes)[number]): route is TokenRoute => route.auth !== "none";
const tokenRoutes = allRoutes.filter(isToken);

/** A handler that keeps what reaches its use case. */
function spied() {
  const seen: RequestOf<"list-pull-requests">[] = [];
  const handler = endpoint(routes["list-pull-requests"], ports(), async ({ input }) => {
    seen.push(input);
    return ok({ pullRequests: [] });
  });
  return { handler, seen };
}

describe("nobody reaches a use case without", () => {
  const contexts: Record<string, unknown> = {
    "an authorizer's answer": null,
    "a principal in it": {},
    "a whole principal": { org: "acme", scopes: "read,submit,admin" },
    "a principal of the right types": { ...toAuthorizerContext(aPrincipal()), org: 7 },
    "a known enum case": { ...toAuthorizerContext(aPrincipal()), enumCase: "title" },
    "an organization that can exist": { ...toAuthorizerContext(aPrincipal()), org: "../x" },
    "a token that is still good": toAuthorizerContext(aPrincipal({ expiresAt: NOW })),
    "a readable expiry": { ...toAuthorizerContext(aPrincipal()), expiresAt: "soon" },
  };
  for (const route of tokenRoutes)
    it.each(Object.entries(contexts))(`%s: ${route.id}`, async (_, lambda) => {
      const handler = endpoint(route, ports(), async () => {
        throw new Error("reached");
      });
      expect(errorOf(await call(handler, { lambda, body: "{" }))).toMatchObject({
        status: 401,
        code: "UNAUTHENTICATED",
      });
    });

  it.each(tokenRoutes.map((route) => route.id))("the route's scope: %s", async (id) => {
    const route = tokenRoutes.find((one) => one.id === id);
    if (route === undefined) throw new Error(id);
    const handler = endpoint(route, ports(), async () => {
      throw new Error("reached");
    });
    const scopes = (["read", "submit", "admin"] as const).filter((scope) => scope !== route.scope);
    const answer = await call(handler, { lambda: toAuthorizerContext(aPrincipal({ scopes })) });
    expect(errorOf(answer)).toMatchObject({ status: 403, code: "FORBIDDEN" });
  });

  it("lets a token through until the millisecond at which it expires", async () => {
    const lambda = toAuthorizerContext(aPrincipal({ expiresAt: epochMs(NOW + 1) }));
    expect((await call(spied().handler, { lambda, body: JSON.stringify(REF) })).statusCode).toBe(200);
  });
});

describe("a request is judged in order:", () => {
  it("the token before the body", async () => {
    const answer = await call(spied().handler, { lambda: null, body: "{", headers: { "content-type": "text/plain" } });
    expect(answer.statusCode).toBe(401);
  });

  it("the content type before the JSON", async () => {
    const answer = await call(spied().handler, { body: "{", headers: { "content-type": "text/plain" } });
    expect(errorOf(answer)).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("the JSON before the schema", async () => {
    const error = errorOf(await call(spied().handler, { body: '{"repo":' }));
    expect(error).toMatchObject({ status: 400, code: "INVALID_REQUEST" });
    expect(error.issues).toBeUndefined();
  });

  it("the schema, with every problem at once", async () => {
    const { handler, seen } = spied();
    const body = JSON.stringify({
      repo: { host: 1, owner: "..", name: "a\nb" },
      take: 1.5,
      state: "x",
      since: "today",
    });
    const error = errorOf(await call(handler, { body }));
    expect(error.status).toBe(400);
    const paths = error.issues?.map((issue) => issue.path).toSorted();
    expect(paths).toEqual(["repo.host", "repo.name", "repo.owner", "since", "state", "take", "targetBranch"]);
    expect(error.issues).toContainEqual({ path: "take", message: "must be an integer" });
    expect(error.issues).toContainEqual({ path: "targetBranch", message: "is required" });
    expect(seen).toEqual([]);
  });

  it.each(["null", "[]", '"x"', "7", "[{}]"])("a body that is no object is a 400: %s", async (body) => {
    expect(errorOf(await call(spied().handler, { body })).issues).toEqual([{ path: "", message: "must be an object" }]);
  });
});

describe("a request", () => {
  it("without a body counts as {}, whatever its type", async () => {
    const handler = endpoint(routes["list-queues"], ports(), async () => ok({ queues: [] }));
    const answer = await call(handler, { body: "", headers: { "content-type": "" } });
    expect(answer).toMatchObject({ statusCode: 200, body: '{"queues":[]}' });
  });

  it("may hold unknown fields, which are dropped", async () => {
    const { handler, seen } = spied();
    await call(handler, { body: JSON.stringify({ ...REF, color: "red", repo: { ...REF.repo, id: 1 } }) });
    expect(seen).toEqual([{ ...REF, take: 50 }]);
  });

  it.each(['{"__proto__":{"take":1}}', '{"repo":{"__proto__":{"host":"x"}}}', '{"constructor":{"prototype":{}}}'])(
    "with %s is refused and pollutes nothing",
    async (body) => {
      expect(errorOf(await call(spied().handler, { body })).status).toBe(400);
      expect(Reflect.get({}, "take")).toBeUndefined();
    },
  );

  it("of a GET is its query; a body means nothing", async () => {
    const handler = endpoint(routes["get-merge-queue-metrics"], ports(), async ({ input }) =>
      ok(`# ${JSON.stringify(input)}\n`),
    );
    const answer = await call(handler, {
      method: "GET",
      query: { repo: "acme/app", repoHost: "github.com" },
      body: "junk",
      headers: { "content-type": "text/plain" },
    });
    expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.body).toBe('# {"repo":{"host":"github.com","owner":"acme","name":"app"}}\n');
  });

  it("may be sent with a charset and any case of the type", async () => {
    const headers = { "content-type": "Application/JSON; charset=UTF-8" };
    expect((await call(spied().handler, { body: JSON.stringify(REF), headers })).statusCode).toBe(200);
  });
});

describe("an answer", () => {
  const handler = (result: () => ReturnType<typeof fail<"QUEUE_NOT_FOUND" | "UNAVAILABLE" | "INVALID_REQUEST">>) =>
    endpoint(routes["get-submitted-pull-request"], ports(), async () => result());

  it("carries the use case's fault in the one error shape", async () => {
    const answer = await call(
      handler(() => fail("QUEUE_NOT_FOUND", "No merge queue targets it.")),
      { body: JSON.stringify(REF_PR) },
    );
    expect(errorOf(answer)).toEqual({
      status: 404,
      code: "QUEUE_NOT_FOUND",
      message: "No merge queue targets it.",
      requestId: "req-1",
    });
  });

  it("of 503 says when to come back", async () => {
    const body = JSON.stringify(REF_PR);
    const given = await call(
      handler(() => fail("UNAVAILABLE", "Too many writers.", { retryAfterSeconds: 2.1 })),
      { body },
    );
    expect(given).toMatchObject({ statusCode: 503, headers: { "retry-after": "3" } });
    const plain = await call(
      handler(() => fail("UNAVAILABLE", "Too many writers.")),
      { body },
    );
    expect(plain.headers["retry-after"]).toBe("1");
  });

  it("lists at most 100 issues", async () => {
    const issues = Array.from({ length: 300 }, (_, at) => ({ path: String(at), message: "wrong" }));
    const given = await call(
      handler(() => fail("INVALID_REQUEST", "All of it is wrong.", { issues })),
      { body: JSON.stringify(REF_PR) },
    );
    expect(errorOf(given).issues).toHaveLength(100);
  });

  it("to something thrown is a 500 without internals, and the log knows the request", async () => {
    const lines: unknown[] = [];
    const error = (message: string, fields: unknown) => void lines.push([message, fields]);
    const log = { info: () => {}, warn: () => {}, error };
    const handler = endpoint(routes["get-queue"], ports({ log }), async () => {
      throw new Error("secret table name");
    });
    const answer = await call(handler, { body: JSON.stringify(REF) });
    expect(errorOf(answer)).toMatchObject({ status: 500, code: "INTERNAL" });
    expect(answer.body).not.toContain("secret");
    expect(JSON.stringify(lines)).toContain("req-1");
    expect(JSON.stringify(lines)).toContain("secret table name");
  });

  it("leaves the event as it was", async () => {
    const { handler } = spied();
    const event = anEvent({ body: JSON.stringify(REF) });
    const before = structuredClone(event);
    await handler(event, aContext);
    expect(event).toEqual(before);
  });
});

describe("a handler does not compile that answers", () => {
  it("a body its route does not declare", () => {
    // @ts-expect-error: list-queues answers {queues}
    endpoint(routes["list-queues"], ports(), async () => ok({ queue: [] }));
    // @ts-expect-error: an element must be a whole queue
    endpoint(routes["list-queues"], ports(), async () => ok({ queues: [{ branch: "main" }] }));
  });

  it("an error code its route does not declare", () => {
    // @ts-expect-error: list-queues knows no QUEUE_NOT_EMPTY
    endpoint(routes["list-queues"], ports(), async () => fail("QUEUE_NOT_EMPTY", "There are pull requests in it."));
  });

  it("on a route without a token, as if it had one", () => {
    // @ts-expect-error: get-status has no principal
    endpoint(routes["get-status"], ports(), async () => ok({ status: "OK", version: "1", time: "" }));
  });
});
