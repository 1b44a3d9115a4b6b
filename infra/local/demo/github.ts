/**
 * The demo on GitHub's twin: an App that is set up and linked as anybody's is, webhooks, a CI, and pull requests made
 * with git and opened on the twin. The service is not told that it is no real GitHub.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { PERMISSIONS } from "../../admin/github-manifest.ts";
import { LOCAL_ORG } from "../admin-token.ts";
import { writeGitHubApp } from "../github-app.ts";
import { freePort } from "../ports.ts";
import { parseConfigFile } from "../../../shared/code-host/git/config-file.ts";
import { createCi, type JunitReport } from "./ci.ts";
import { createClient } from "./client.ts";
import type { DemoHost, Reached } from "./host.ts";
import { patience } from "./patience.ts";
import { BRANCH, type DemoRepository, push } from "./repository.ts";
import { git } from "./run.ts";
import type { Files, Promised, Sample } from "./scene.ts";
import type { Screen } from "./screen.ts";
import { startTwin, type Twin } from "./twin.ts";

export const GITHUB = "github.com";
const OWNER = "demo";
const nothing = z.unknown();
const nameOf = ({ name }: Sample): string => `${OWNER}/${name}`;
const pushRef = (number: number): string => `refs/heads/pr-${number}`;

export async function gitHubTwin(folder: string, data: string, screen: Screen): Promise<DemoHost> {
  let twin: Twin | undefined;
  let reached: Reached = { url: "", token: "" };
  const made = new Map<string, { readonly bare: string; readonly highest: number }>();
  const there = (): Twin => {
    if (twin === undefined) throw new Error("GitHub's twin is not there yet");
    return twin;
  };
  const ci = createCi({
    folder: join(folder, "ci"),
    bareOf: (repository) => made.get(repository)?.bare ?? join(folder, "github", `${repository}.git`),
    twin: there,
    report: (report) => upload(reached, report),
    complain: (what) => screen.say(what),
  });
  twin = await startTwin(join(folder, "github"), ci.hear);
  const { url, app, ask } = twin;
  await mkdir(data, { recursive: true, mode: 0o700 });
  // Two dozen pull requests within minutes are more than GitHub lets an App create.
  writeGitHubApp(data, { host: GITHUB, web: url, api: url, ...app, limits: "none" });
  screen.say(`GitHub's twin is up at ${url}: an App is set up on it, as by npm run github-app -- setup`);
  return {
    name: GITHUB,
    repositories: [],
    startArguments: "",
    // What was tested is itself what lands then. By squash, GitHub makes commits of its own, one pull request at a time.
    queueSettings: { mergeMethod: "merge_commit" },
    connect: async (server) => {
      reached = server;
      const installation = await ask(z.int(), "installation", OWNER);
      await ask(nothing, "setPermissions", OWNER, PERMISSIONS);
      await link(data, installation);
      await ask(nothing, "webhooksTo", `${server.url}/webhooks/github`, app.webhookSecret);
      screen.say(
        `The installation of ${OWNER} is linked: npm run github-app -- link --org ${LOCAL_ORG}. Webhooks are on.`,
      );
    },
    make: (sample) => {
      const highest = Math.max(...sample.pullRequests.map((one) => one.number));
      return make(folder, there(), sample, (bare) => void made.set(nameOf(sample), { bare, highest }));
    },
    promises: () => judge(there(), [...made]),
    stop: async () => {
      ci.stop();
      const isFaithful = (await twin?.stop()) ?? true;
      if (!isFaithful) screen.say("GitHub's twin answered or told something in another shape than GitHub publishes.");
    },
  };
}

/** A title as the other host gives it, so that both can be compared. */
const bodyOf = (title: string, number: number): string => `merge-commit-title: ${title} (#${number})\n`;

/** GitHub runs no checks: which have to pass is said, and a CI is there for the rest. */
function forGitHub({ base }: Sample): Files {
  const config = base[".mainline.yaml"] ?? "";
  const read = parseConfigFile(Buffer.from(config));
  const names = read.kind === "READ" ? [...read.config.checks.keys()] : [];
  return { ...base, ".mainline.yaml": `${config}required_statuses: [${names.join(", ")}]\n` };
}

async function make(
  folder: string,
  { ask }: Twin,
  sample: Sample,
  isMade: (bare: string) => void,
): Promise<DemoRepository> {
  const name = nameOf(sample);
  const wanted = { files: forGitHub(sample), defaultBranch: BRANCH };
  const { path: bare } = await ask(z.object({ path: z.string() }), "addRepository", name, wanted);
  isMade(bare);
  const clone = join(folder, "authors", sample.name);
  await mkdir(clone, { recursive: true });
  await git(clone, ["clone", "--quiet", bare, "."]);
  const repository = await push(bare, clone, sample, pushRef);
  for (const { number, title, author } of sample.pullRequests) {
    await ask(nothing, "nextNumber", name, number);
    const body = bodyOf(title, number);
    const by = author.name.toLowerCase();
    const opened = { head: `pr-${number}`, base: BRANCH, title, body, author: by };
    await ask(z.literal(number), "openPullRequest", name, opened);
  }
  return repository;
}

/** What a workflow's step does with the token of its repository's secrets. */
async function upload(
  { url, token }: Reached,
  { repository, junit, attempt, number, ...facts }: JunitReport,
): Promise<void> {
  const [owner = "", name = ""] = repository.split("/");
  const client = createClient(url, token, { host: GITHUB, owner, name });
  await client.uploadResults(junit, { ...facts, pr: number, attempt: String(attempt), merge_queue: "true" });
}

/** The command that links, and the browser of whoever installs the App: it comes back with what GitHub adds. */
async function link(data: string, installation: number): Promise<void> {
  const port = await freePort();
  const script = new URL("../../admin/github-app.ts", import.meta.url).pathname;
  const args = [script, "link", "--org", LOCAL_ORG, "--data", data, "--port", String(port)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = exitOf(child);
  let state: string | undefined;
  while (state === undefined && child.exitCode === null) {
    await sleep(50);
    state = /[?&]state=(\S+)/u.exec(said)?.[1];
  }
  const query = new URLSearchParams({ installation_id: String(installation), setup_action: "install" });
  query.set("state", state ?? "");
  if (state !== undefined) await fetch(`http://127.0.0.1:${port}/installed?${query.toString()}`);
  if ((await code) !== 0) throw new Error(`the installation could not be linked: ${said.trim()}`);
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("close", resolve);
  });

/** Without any of it going. */
const STANDSTILL_MS = 60_000;

async function judge(
  { ask }: Twin,
  made: readonly (readonly [string, { readonly highest: number }])[],
): Promise<readonly Promised[]> {
  const whatIsLeft = async (): Promise<readonly string[]> => {
    const left: string[] = [];
    for (const [name, { highest }] of made) {
      const branches = await ask(z.array(z.string()), "branches", name);
      const open = await ask(z.array(z.int()), "openPulls", name);
      left.push(...branches.filter((branch) => branch.startsWith("mainline/")));
      left.push(...open.filter((number) => number > highest).map((number) => `${name}#${number}`));
    }
    return left;
  };
  const patient = patience(STANDSTILL_MS);
  let left = await whatIsLeft();
  while (left.length > 0 && !patient.isOver(left)) {
    await sleep(250);
    left = await whatIsLeft();
  }
  const lies = await ask(z.array(z.string()), "lies");
  return [
    {
      what: ["no testing branch and no draft pull request of the queue is left", ...left].join("; "),
      kept: left.length === 0,
    },
    { what: "every answer and webhook of the twin had the shape that GitHub publishes", kept: lies.length === 0 },
  ];
}
