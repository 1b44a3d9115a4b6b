/** The last pages: the branches and their proof, every pull request's end, the metrics, what was promised, how to go on. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { judgeScene } from "./promises.ts";
import { cloneAfresh, provePoints } from "./proof.ts";
import { BRANCH, repoOf } from "./repository.ts";
import { BAKERY } from "./sample.ts";
import { type DemoHost, GIT_HOST, type Reached } from "./host.ts";
import type { Evidence, Judge, Promised, Stage } from "./scene.ts";
import { type Screen, wrap } from "./screen.ts";

type Print = (line: string) => void;

/** A scene that is over. */
export type Played = { readonly stage: Stage; readonly judge: Judge };

/** Answers whether everything was as promised. */
export async function end(
  played: readonly Played[],
  { host, folder }: { readonly host: DemoHost; readonly folder: string },
  screen: Screen,
  print: Print,
): Promise<boolean> {
  screen.heading("The target branches, checked at every point: fresh clones, plain git, sh checks/*.sh");
  const points = new Map<Stage, Evidence["points"]>();
  for (const { stage } of played) points.set(stage, await prove(stage, folder, print));
  screen.heading("Each pull request, in one line (POST /explainPullRequest)");
  for (const { stage } of played)
    for (const { number } of stage.sample.pullRequests) await explain(stage, number, print);
  screen.heading("Some of the metrics (GET /getMergeQueueMetrics)");
  const all: Promised[] = [];
  const judged: (readonly [Stage, readonly Promised[]])[] = [];
  for (const { stage, judge } of played) {
    const evidence: Evidence = {
      seen: await stage.watch.look(),
      moves: stage.watch.moves(),
      points: points.get(stage) ?? [],
      clone: cloneOf(stage, folder),
      metrics: await showMetrics(stage, print),
    };
    judged.push([stage, [...judgeScene(stage, evidence), ...(await judge(evidence))]]);
  }
  screen.heading("What was promised");
  for (const [{ sample }, promises] of judged) {
    print(`demo/${sample.name}`);
    for (const { what, kept } of promises) print(`${kept ? "kept  " : "BROKEN"}  ${what}`);
    all.push(...promises);
  }
  const ofHost = await host.promises();
  if (ofHost.length > 0) print(host.name);
  for (const { what, kept } of ofHost) print(`${kept ? "kept  " : "BROKEN"}  ${what}`);
  return [...all, ...ofHost].every((one) => one.kept);
}

const cloneOf = ({ sample }: Stage, folder: string): string => join(folder, "proof", sample.name);

async function prove(stage: Stage, folder: string, print: Print): Promise<Evidence["points"]> {
  const clone = cloneOf(stage, folder);
  await cloneAfresh(stage.repository.bare, clone);
  const points = await provePoints(clone, stage.sample);
  print(`demo/${stage.sample.name}`);
  for (const { sha, subject, passes } of points)
    print(`${passes ? "passes" : "FAILS "}  ${sha.slice(0, 12)}  ${subject}`);
  return points;
}

/**
 * What was answered at its end, and before, unless that was shown already. For one that failed, the end of the failed
 * check's log as well, where a status's address is a file on this machine.
 */
async function explain({ client, watch, quoted }: Stage, number: number, print: Print): Promise<void> {
  const { summary, failedRun } = await client.explain(number);
  print(summary);
  const before = watch
    .told()
    .get(number)
    ?.findLast(({ state }) => state !== "TESTS_PASSED");
  if (before !== undefined && !quoted.has(number))
    for (const line of wrap(`before: ${before.summary}`, 100)) print(`    ${line}`);
  for (const { context, state, url } of failedRun?.statuses ?? []) {
    if (state !== "FAILURE" || url === null) continue;
    if (!url.startsWith("file:")) {
      print(`    the log of ${context} is at ${url}`);
      continue;
    }
    const log = await readFile(new URL(url), "utf8");
    print(`    the log of ${context} ends with: ${log.trimEnd().split("\n").slice(-2).join("; ")}`);
  }
}

const SHOWN =
  /^(?:mq_pr_conclusions_1h_total|mq_pr_restarts_1h_total|mainline_(?:batches|landings|check_repeats|pull_requests_merged_unproven)_total|mainline_test_runs_(?:per_merged_pull_request|concluded_total))\{/u;

/** Those that say most, without zeros; answers all. */
async function showMetrics({ client }: Stage, print: Print): Promise<string> {
  const metrics = await client.metrics().catch((error: unknown) => String(error));
  for (const line of metrics.split("\n")) if (SHOWN.test(line) && !line.endsWith(" 0")) print(line);
  return metrics;
}

const headers = `-H "x-api-token: $TOKEN" -H "content-type: application/json"`;

const ownPullRequest = (bare: string, queue: string): readonly string[] => [
  "",
  "A pull request of your own:",
  "",
  `git clone ${bare} bakery && cd bakery`,
  `echo "rye 310" >> menu.txt && git commit -am "Sell rye bread"`,
  "git push origin HEAD:refs/pull/12/head",
  `curl -s $URL/submitPullRequest ${headers} -d '{${queue}, "pr": {"number": 12}}'`,
  `curl -s $URL/explainPullRequest ${headers} -d '{${queue}, "pr": {"number": 12}}'`,
];

export function howToGoOn(print: Print, { url, token }: Reached, host: DemoHost, bare: string): void {
  const queue = `"repo": ${JSON.stringify(repoOf(BAKERY, host.name))}, "targetBranch": "${BRANCH}"`;
  const ofOwn = host.name === GIT_HOST ? ownPullRequest(bare, queue) : [];
  for (const line of [
    "The server is still running. In another terminal:",
    "",
    `URL=${url}`,
    `TOKEN=${token}`,
    `curl -s $URL/getQueue ${headers} -d '{${queue}}'`,
    `curl -s $URL/explainPullRequest ${headers} -d '{${queue}, "pr": {"number": 6}}'`,
    ...ofOwn,
    "",
    "Ctrl-C ends the server and removes the demo's folder. For a repository of your own: npm start, and README.md.",
  ])
    print(line);
}
