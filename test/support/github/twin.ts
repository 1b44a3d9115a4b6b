/**
 * GitHub's twin: the part of its REST API that a merge queue's App uses, over real bare git repositories. It knows
 * nothing of the service that is tested against it; every answer is held against the shapes that GitHub publishes.
 *
 *     const github = await startGitHubTwin({ folder });
 *     const { path } = await github.addRepository("acme/app", { files: { "a.txt": "1\n" } });
 *     github.webhooksTo("http://127.0.0.1:8080/v1/webhooks/github", github.app.webhookSecret);
 *     const number = await github.openPullRequest("acme/app", { head: "feature", base: "main", files: { "b.txt": "2\n" } });
 */
import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { createApp } from "./auth/app.ts";
import { createCounts, type Counts } from "./counts.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createLimits, type Limits } from "./http/limits.ts";
import { createRouter } from "./http/router.ts";
import { createTwinServer } from "./http/server.ts";
import { createOperator, type Operator } from "./people/operator.ts";
import { createPeople, type People } from "./people/people.ts";
import { createCi, type Ci, type News } from "./people/ci.ts";
import { createShown, type Shown } from "./people/shown.ts";
import { nodeId, organization, user } from "./render/basics.ts";
import { hookedRepository } from "./render/repository.ts";
import { actionRoutes } from "./routes/actions.ts";
import { appRoutes, type Manifests } from "./routes/apps.ts";
import { checkRoutes } from "./routes/checks.ts";
import { compareRoutes } from "./routes/compare.ts";
import { issueRoutes } from "./routes/issues.ts";
import { mergeRoutes } from "./routes/merging.ts";
import { objectRoutes } from "./routes/objects.ts";
import { pullRoutes } from "./routes/pulls.ts";
import { refRoutes } from "./routes/refs.ts";
import { repositoryRoutes } from "./routes/repositories.ts";
import { createWebhooks, type Delivery, type Webhooks } from "./webhooks.ts";
import { type App, type Emit, installationOn, inTurn, type World } from "./world.ts";
import { notice } from "./content/notice.ts";

export type TwinOptions = {
  /** Where its bare repositories are made. */
  readonly folder: string;
  readonly now?: () => number;
  /** How long nobody knows whether a pull request merges, from the first time that somebody asks. */
  readonly mergeabilityDelayMs?: number;
  /**
   * As on GitHub: check runs of GitHub Actions are jobs of workflow runs, which are listed, cancelled and run again, and a
   * check run of another app than the one under test cannot be asked for again. `false`: CI is not GitHub Actions, there
   * are no workflow runs, and any check run can be asked for again.
   */
  readonly workflows?: boolean;
  /** How often pushes with plain git are looked for; 0: only when something is asked, and on `pushed`. */
  readonly lookEveryMs?: number;
};

export type GitHubTwin = Operator &
  People &
  Ci &
  Shown & {
    /** As `https://api.github.com`; `/api/v3` in front of a path is taken too, as GitHub Enterprise Server has it. */
    readonly url: string;
    readonly app: Pick<App, "appId" | "privateKey" | "webhookSecret" | "slug">;
    readonly webhooksTo: (url: string, secret: string) => void;
    readonly deliveries: readonly Delivery[];
    readonly redeliver: (id: number) => Promise<Delivery>;
    readonly faults: Faults;
    readonly counts: Counts;
    readonly limits: Pick<Limits, "limit" | "contentPerMinute" | "contentPerHour">;
    /** Looks at a repository's refs now, after a push with plain git. */
    readonly pushed: (repository: string) => Promise<void>;
    /** Every webhook that was sent has come to an end. */
    readonly settled: () => Promise<void>;
    /** What was not GitHub's; `stop` throws when there is any. */
    readonly lies: readonly string[];
    readonly stop: () => Promise<void>;
  };

const LOOK_EVERY_MS = 250;

export async function startGitHubTwin(options: TwinOptions): Promise<GitHubTwin> {
  const lies: string[] = [];
  const now = options.now ?? Date.now;
  const faults = createFaults();
  const counts = createCounts();
  // Beyond 32 bits, as many of GitHub's are.
  let id = 40_000_000_000;
  const nextId = (): number => (id += 1);
  const webhooks = createWebhooks({ faults, now, nextId, lies });
  const news: News = new EventEmitter();
  // Each repository may have a CI of its own.
  news.setMaxListeners(0);
  const manifests: Manifests = { codes: new Map() };
  const world: World = {
    url: "",
    folder: options.folder,
    now,
    nextId,
    app: createApp(),
    accounts: new Map(),
    repositories: [],
    apps: new Map(),
    installations: [],
    tokens: new Map(),
    mergeabilityDelayMs: options.mergeabilityDelayMs ?? 20,
    emit: (...news) => emit(world, webhooks, news),
    pushed: (push) => void setImmediate(() => news.emit("pushed", push)),
    rerun: (rerun) => void setImmediate(() => news.emit("rerun", rerun)),
    cancelled: (cancelled) => void setImmediate(() => news.emit("cancelled", cancelled)),
    workflows: options.workflows ?? true,
  };
  world.accounts.set(world.app.owner.login, world.app.owner);
  const limits = createLimits(now, (authorization) => holder(world, authorization));
  const routes = [
    ...appRoutes(webhooks, limits, manifests),
    ...repositoryRoutes,
    ...actionRoutes,
    ...pullRoutes,
    ...mergeRoutes,
    ...refRoutes,
    ...objectRoutes,
    ...compareRoutes,
    ...checkRoutes,
    ...issueRoutes,
  ];
  const router = createRouter(routes);
  const server = createTwinServer({ world, router, faults, limits, count: counts.count, lies });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const looking = lookEvery(world, options.lookEveryMs ?? LOOK_EVERY_MS, lies);
  return {
    ...createOperator(world, manifests),
    ...createPeople(world),
    ...createCi(world, news),
    ...createShown(world),
    url: world.url,
    app: world.app,
    faults,
    counts,
    limits,
    lies,
    deliveries: webhooks.deliveries,
    redeliver: webhooks.redeliver,
    webhooksTo: (url, secret) => {
      world.app.webhookSecret = secret;
      webhooks.to = {
        url,
        secret,
      };
    },
    pushed: async (name) => {
      for (const repo of world.repositories)
        if (`${repo.owner.login}/${repo.name}` === name) await inTurn(repo, () => notice(world, repo));
    },
    settled: webhooks.settled,
    stop: async () => {
      clearInterval(looking);
      webhooks.to = null;
      server.closeAllConnections();
      server.close();
      await Promise.all(world.repositories.map((repo) => repo.turn));
      if (lies.length > 0) throw new Error(`the twin did not answer as GitHub does:\n${lies.slice(0, 20).join("\n")}`);
    },
  };
}

/** The budget is the installation's, whichever of its tokens is used. */
function holder(world: World, authorization: string): string {
  const token = world.tokens.get(authorization.split(" ")[1] ?? "");
  return token === undefined ? "app" : `${token.installation.id}`;
}

/** The App hears of the repositories it is installed on, and of those events it asked for. */
function emit(world: World, webhooks: Webhooks, [event, action, repo, payload, sender]: Parameters<Emit>): void {
  const found = repo === null ? undefined : installationOn(world, repo);
  const isOwn = event === "installation" || event === "installation_repositories";
  const isHeard = found !== undefined && found.suspendedAt === null && world.app.events.includes(event);
  if (!isOwn && !isHeard) return;
  const of = found === undefined ? {} : { id: found.id, node_id: nodeId("Installation", found.id) };
  const installationId = found?.id ?? ("installation" in payload ? (payload.installation as { id: number }).id : null);
  webhooks.send({
    event,
    action,
    installationId,
    repositoryId: repo?.id ?? null,
    payload: {
      ...(action === null ? {} : { action }),
      ...(repo === null ? {} : { repository: hookedRepository(world, repo) }),
      ...(repo?.owner.type === "Organization" ? { organization: organization(world, repo.owner) } : {}),
      ...(found === undefined ? {} : { installation: of }),
      ...payload,
      sender: user(world, sender),
    },
  });
}

function lookEvery(world: World, everyMs: number, lies: string[]): NodeJS.Timeout | undefined {
  if (everyMs === 0) return undefined;
  const look = async (): Promise<void> => {
    for (const repo of world.repositories.filter((one) => one.parent === null))
      await inTurn(repo, () => notice(world, repo));
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => void lies.push(String(error)))
      .finally(() => (isLooking = false));
  }, everyMs);
  return timer.unref();
}
