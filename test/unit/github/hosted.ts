/** GitHub as a code host of one organization, on the twin and a real table, with a clock that can be put forward. */
import { rmSync } from "node:fs";
import { createClient, type GitHubClient } from "../../../shared/code-host/github/client.ts";
import { createGitHubHost } from "../../../shared/code-host/github/host.ts";
import type { GitHubMemory } from "../../../shared/code-host/github/port.ts";
import type { BuildRequest, Built, CodeHost, LandRequest } from "../../../shared/code-host/port.ts";
import { type CommitSha, commitSha, entryId, orgSlug, runId } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { Change, MergeMethod } from "../../../shared/queue/engine/types.ts";
import type { Table } from "../../../shared/table/client.ts";
import { githubMemory } from "../../../shared/table/github-memory.ts";
import { aFolder } from "../../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../../support/github/twin.ts";
import type { Tables } from "../../support/table.ts";

export const NAME = "acme/app";
export const REPO = { host: "github.com", owner: "acme", name: "app" };
export const ORG = orgSlug("local");

export type Hosted = {
  readonly twin: GitHubTwin;
  readonly table: Table;
  readonly client: GitHubClient;
  readonly memory: GitHubMemory;
  readonly host: CodeHost;
  /** Another process on the same table. */
  readonly another: () => CodeHost;
  /** Accounts whose installations are linked. */
  readonly linked: Map<string, number>;
  readonly passes: (ms: number) => void;
  readonly tip: (name?: string) => Promise<CommitSha>;
  readonly open: (head: string, files: Readonly<Record<string, string>>) => Promise<number>;
  readonly changeOf: (number: number) => Change;
  /** What a test of these pull requests on the present tip is built of. */
  readonly request: (numbers: readonly number[], more?: Partial<BuildRequest>) => Promise<BuildRequest>;
  readonly stop: () => Promise<void>;
};

export async function hosted(tables: Tables): Promise<Hosted> {
  const folder = aFolder();
  const twin = await startGitHubTwin({ folder });
  await twin.addRepository(NAME, { files: { "a.txt": "1\n" } });
  const linked = new Map([["acme", await twin.installation("acme")]]);
  const table = await tables.another();
  let passedMs = 0;
  const clock = () => epochMs(Date.now() + passedMs);
  const memory = githubMemory(table, ORG, clock);
  const installationOf = async (_org: string, _host: string, account: string) => linked.get(account);
  const clientOf = () => createClient({ ...twin.app, api: twin.url }, clock);
  const hostOf = (client: GitHubClient) =>
    createGitHubHost({ org: ORG, host: "github.com", client, memory, installationOf, clock });
  const client = clientOf();
  const tip = async (name = NAME): Promise<CommitSha> => commitSha(await twin.git(name, "rev-parse", "main"));
  const changeOf = (number: number): Change => ({
    entry: entryId(`e${number}`),
    prNumber: number,
    headSha: commitSha(twin.pull(NAME, number).head.sha),
    title: "A change",
    author: { name: "Ada", email: "ada@example.com" },
    date: epochMs(1_700_000_000_000),
  });
  return {
    twin,
    table,
    client,
    memory,
    host: hostOf(client),
    another: () => hostOf(clientOf()),
    linked,
    passes: (ms) => void (passedMs += ms),
    tip,
    open: (head, files) => twin.openPullRequest(NAME, { head, base: "main", files }),
    changeOf,
    request: async (numbers, more = {}) => ({
      run: runId("q-1"),
      repo: REPO,
      branch: "mainline/pr-1/q-1",
      base: await tip(),
      changes: numbers.map(changeOf),
      mergeMethod: "MERGE_COMMIT",
      required: [],
      targetBranch: "main",
      ...more,
    }),
    stop: async () => {
      await twin.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function built(host: CodeHost, request: BuildRequest): Promise<Built> {
  const answer = await host.buildRun(request);
  if (!answer.ok) throw new Error(JSON.stringify(answer.why));
  return answer.value;
}

export const landingOf = (request: BuildRequest, of: Built, mergeMethod?: MergeMethod): LandRequest => {
  const { run, repo, base, changes } = request;
  const method = mergeMethod ?? request.mergeMethod;
  return { run, repo, targetBranch: "main", ...of, base, expectedTip: base, changes, mergeMethod: method };
};
