/**
 * The local server with a GitHub App, linked to the twin's installation by the command for it. It is driven: time passes
 * only while a test waits, so that what the service puts off costs nothing. Holds no assertions.
 *
 *     const github = await onGitHub();
 *     const queue = await github.queue();
 *     const number = await github.change({ "b.txt": "b\n" });
 *     await queue.submit(number);
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { PERMISSIONS } from "../../infra/admin/github-manifest.ts";
import { writeGitHubApp } from "../../infra/local/github-app.ts";
import { queue as queueShape } from "../../shared/schemas/queue.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { eventually } from "./eventually.ts";
import { type Poll, pollBy } from "./poll.ts";
import { aFolder } from "./git-repository.ts";
import { LIMITLESS } from "./github/http/limits.ts";
import { type GitHubTwin, startGitHubTwin } from "./github/twin.ts";
import { aDrivenService, type DrivenService, type QueueClient, shown } from "./service.ts";

export const NAME = "acme/app";

type Report = (sha: string) => Promise<"success" | "failure" | null>;

export type Place = {
  /** `owner/name` */
  readonly name: string;
  /** A queue on `main`; a CI passes whatever is pushed, testing branches unless it is told otherwise. */
  readonly queue: (settings?: object) => Promise<QueueClient>;
  readonly change: (files: Readonly<Record<string, string>>) => Promise<number>;
};

export type OnGitHub = Place & {
  readonly twin: GitHubTwin;
  readonly service: DrivenService;
  readonly webhooks: string;
  /** As `expect.poll`, with the time passing while it waits. */
  readonly poll: Poll;
  /** Another repository on the same GitHub and in the same service. */
  readonly another: (ci?: Wishes["ci"]) => Promise<Place>;
  readonly stop: () => Promise<void>;
};

export type Wishes = {
  readonly linked?: boolean;
  readonly hears?: boolean;
  /** What CI says of a testing branch's commit; null says nothing. Null: there is none. */
  readonly ci?: Report | null | undefined;
  readonly limits?: "none";
};

export async function onGitHub({ linked = true, hears = true, ci, limits }: Wishes = {}): Promise<OnGitHub> {
  const folder = aFolder();
  const twin = await startGitHubTwin({ folder });
  if (limits === "none") twin.limits.limit = LIMITLESS;
  // No more than what the App asks for, to see that it is enough.
  await twin.installation("acme");
  twin.setPermissions("acme", PERMISSIONS);
  let data = "";
  const reporting = new Set<Promise<void>>();
  const settled = async (): Promise<void> => {
    // What the twin was told, CI hears a turn later.
    await turn();
    await twin.settled();
    while (reporting.size > 0) await Promise.all(reporting);
    await twin.settled();
  };
  const service = await aDrivenService((made) => {
    data = made;
    const { appId, privateKey, webhookSecret, slug } = twin.app;
    const app = { appId, privateKey, webhookSecret, slug, ...(limits === undefined ? {} : { limits }) };
    writeGitHubApp(made, { host: "github.com", web: twin.url, api: twin.url, ...app });
  }, settled);
  const webhooks = `${service.server().url}/webhooks/github`;
  if (linked) await link(data, "local", await twin.installation("acme"));
  if (hears) twin.webhooksTo(webhooks, twin.app.webhookSecret);
  const place = async (name: string, report: Wishes["ci"]): Promise<Place> => {
    await twin.addRepository(name, { files: { "a.txt": "1\n" } });
    twin.protect(name, "main", { requiredStatuses: ["unit"], by: "ruleset", bypass: [twin.app.slug] });
    return placeOf({ twin, service, reporting }, name, report);
  };
  let places = 0;
  return {
    ...(await place(NAME, ci)),
    twin,
    service,
    webhooks,
    poll: pollBy(service.until),
    another: (report) => place(`acme/app-${(places += 1)}`, report),
    stop: async () => {
      await service.stop();
      await twin.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Scene = Pick<OnGitHub, "twin" | "service"> & { readonly reporting: Set<Promise<void>> };

function placeOf({ twin, service, reporting }: Scene, name: string, ci: Wishes["ci"]): Place {
  twin.onPush(({ sha, branch, repository }) => {
    if (ci === null || repository !== name) return;
    const report = async (): Promise<void> => {
      const state = ci === undefined || !branch.startsWith("mainline/") ? "success" : await ci(sha);
      if (state !== null) await twin.setCheckRun(name, sha, "unit", state);
    };
    const reported = report()
      .catch(() => {})
      .finally(() => reporting.delete(reported));
    reporting.add(reported);
  });
  const [owner = "", short = ""] = name.split("/");
  let changes = 0;
  return {
    name,
    queue: async (settings = {}) => {
      const client = service.client({ key: repoKey({ host: "github.com", owner, name: short }) });
      shown(queueShape, await client.asks("/createQueue", { mode: "single", concurrency: 5, ...settings }));
      return client;
    },
    change: (files) => twin.openPullRequest(name, { head: `change-${(changes += 1)}`, base: "main", files }),
  };
}

let port = 20_000 + (process.pid % 20_000);

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("close", resolve);
  });

/** `npm run github-app -- link`, and the browser of whoever installs the App: it brings back what GitHub adds. */
export async function link(
  data: string,
  org: string,
  installation: number,
  asState: (state: string) => string = (state) => state,
): Promise<{ readonly code: number | null; readonly said: string; readonly page: number }> {
  port += 1;
  const args = ["infra/admin/github-app.ts", "link", "--org", org, "--data", data, "--port", String(port)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const end = ended(child);
  const find = async () => /[?&]state=(\S+)/u.exec(said)?.[1];
  const state = await eventually(find, (one) => one !== undefined, { what: "the address of the installation" });
  const asked = new URLSearchParams({ installation_id: String(installation), setup_action: "install" });
  asked.set("state", asState(state ?? ""));
  const { status } = await fetch(`http://127.0.0.1:${port}/installed?${asked.toString()}`);
  if (status !== 200) child.kill();
  return { code: await end, said, page: status };
}
