/** The last pages: the branch and its proof, every pull request's end, the metrics, what was promised, how to go on. */
import { readFile } from "node:fs/promises";
import type { Client } from "./client.ts";
import { promises, type Promised } from "./promises.ts";
import { prove } from "./proof.ts";
import { BRANCH, REPO } from "./repository.ts";
import { PULL_REQUESTS } from "./sample.ts";
import type { Screen } from "./screen.ts";
import type { Remembered, Stage } from "./story.ts";

type Print = (line: string) => void;

/** Answers whether everything was as promised. */
export async function end(stage: Stage, remembered: Remembered, folder: string, print: Print): Promise<boolean> {
  const { client, screen, watch, repository } = stage;
  const seen = await watch.look();
  screen.heading(
    "The target branch, checked at every point: a fresh clone, plain git, sh checks/unit.sh, sh checks/lint.sh",
  );
  const proof = await prove(repository.bare, folder);
  for (const { sha, subject, passes } of proof.points)
    print(`${passes ? "passes" : "FAILS "}  ${sha.slice(0, 12)}  ${subject}`);
  screen.heading("Each pull request, in one line (POST /explainPullRequest)");
  for (const { number } of PULL_REQUESTS) await explain(client, number, print);
  const metrics = await showMetrics(client, screen, print);
  const all = promises({ seen, moves: watch.moves(), remembered, proof, metrics });
  screen.heading("What was promised");
  for (const { what, kept } of all) print(`${kept ? "kept  " : "BROKEN"}  ${what}`);
  return all.every((one: Promised) => one.kept);
}

/** For one that failed, the end of the failed check's log as well: on this machine a status's address is a file. */
async function explain(client: Client, number: number, print: Print): Promise<void> {
  const { summary, failedRun } = await client.explain(number);
  print(summary);
  for (const { context, state, url } of failedRun?.statuses ?? []) {
    if (state !== "FAILURE" || url === null) continue;
    const log = await readFile(new URL(url), "utf8");
    print(`    the log of ${context} ends with: ${log.trimEnd().split("\n").slice(-2).join("; ")}`);
  }
}

async function showMetrics(client: Client, screen: Screen, print: Print): Promise<string> {
  screen.heading("The metrics, without zeros (GET /getMergeQueueMetrics)");
  const metrics = await client.metrics().catch((error: unknown) => String(error));
  const lines = metrics.split("\n").filter((line) => line !== "" && !line.startsWith("#") && !line.endsWith(" 0"));
  // Of a histogram its sum and count say enough here.
  for (const line of lines.filter((one) => !one.includes("_bucket{"))) print(line);
  return metrics;
}

export function howToGoOn(print: Print, url: string, token: string, bare: string): void {
  const queue = `"repo": ${JSON.stringify(REPO)}, "targetBranch": "${BRANCH}"`;
  const headers = `-H "x-api-token: $TOKEN" -H "content-type: application/json"`;
  for (const line of [
    "The server is still running. In another terminal:",
    "",
    `URL=${url}`,
    `TOKEN=${token}`,
    `curl -s $URL/getQueue ${headers} -d '{${queue}}'`,
    `curl -s $URL/explainPullRequest ${headers} -d '{${queue}, "pr": {"number": 6}}'`,
    "",
    "A pull request of your own:",
    "",
    `git clone ${bare} bakery && cd bakery`,
    `echo "rye 310" >> menu.txt && git commit -am "Sell rye bread"`,
    "git push origin HEAD:refs/pull/12/head",
    `curl -s $URL/submitPullRequest ${headers} -d '{${queue}, "pr": {"number": 12}}'`,
    `curl -s $URL/explainPullRequest ${headers} -d '{${queue}, "pr": {"number": 12}}'`,
    "",
    "Ctrl-C ends the server and removes the demo's folder. For a repository of your own: npm start, and README.md.",
  ])
    print(line);
}
