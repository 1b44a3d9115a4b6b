/**
 * What a merged pull request costs of GitHub's limits: the whole service on GitHub's twin, which counts what it is asked.
 * Calls that create content are the dear ones: 80 of them within a minute, and 500 within an hour, for one installation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { costOf } from "../../shared/code-host/github/budget.ts";
import { createClient } from "../../shared/code-host/github/client.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { eventually } from "../support/eventually.ts";
import { NAME, type OnGitHub, onGitHub } from "../support/github-service.ts";
import { promised, type Row } from "./report.ts";

const PULL_REQUESTS = 20;
const CONTENT_A_MINUTE = 80;
const CONTENT_AN_HOUR = 500;
const QUIET_MS = 5_000;

const CASES = [
  { name: "with the defaults", settings: {}, goal: 6 },
  {
    name: "without drafts and comments",
    settings: { createPrsForTestingBranches: false, commentsEnabled: false },
    goal: 4,
  },
] as const;
const METHODS = ["squash", "merge_commit"] as const;

export async function github(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const one of CASES) for (const mergeMethod of METHODS) rows.push(await measured(one, mergeMethod));
  return rows;
}

/** Nothing is put off for the limits' sake: what would be shown is shown, and counted. */
async function measured({ name, settings, goal }: (typeof CASES)[number], mergeMethod: string): Promise<Row> {
  const on = await onGitHub({ limits: "none" });
  try {
    const queue = await on.queue({ ...settings, mergeMethod });
    const numbers: number[] = [];
    for (let at = 1; at <= PULL_REQUESTS; at += 1) numbers.push(await on.change({ [`file-${at}.txt`]: "1\n" }));
    await judged(on, numbers);
    on.twin.counts.reset();
    for (const number of numbers) await queue.submit(number);
    const left = async () => numbers.filter((number) => on.twin.pull(NAME, number).merged === null);
    await eventually(left, (some) => some.length === 0, { what: "all are merged" });
    await quiet(on);
    return rowOf(on, `${name}, by ${mergeMethod}`, goal);
  } finally {
    await on.stop();
  }
}

/** GitHub has said of each whether it merges, as of any that was open for a moment: they are tested in their order. */
async function judged({ twin }: OnGitHub, numbers: readonly number[]): Promise<void> {
  const ask = createClient({ ...twin.app, api: twin.url }, systemClock).as(await twin.installation("acme"));
  const [owner = "", repo = ""] = NAME.split("/");
  const isUnknown = async (pull_number: number): Promise<boolean> => {
    const { data } = await ask("GET /repos/{owner}/{repo}/pulls/{pull_number}", { owner, repo, pull_number });
    return data.mergeable === null;
  };
  for (const number of numbers)
    await eventually(
      () => isUnknown(number),
      (unknown) => !unknown,
    );
}

/** Until nothing more is written: pages show the end, branches are removed. */
async function quiet({ twin }: OnGitHub): Promise<void> {
  let seen = -1;
  for (let tries = 0; tries < 24 && seen !== twin.counts.writes(); tries += 1) {
    seen = twin.counts.writes();
    await sleep(QUIET_MS);
  }
}

function rowOf({ twin: { counts } }: OnGitHub, name: string, goal: number): Row {
  const created = [...counts.byRoute].filter(([route]) => {
    const [method = "", path = ""] = route.split(" ");
    return costOf(method, path).content > 0;
  });
  const per = (total: number): number => Math.round((total / PULL_REQUESTS) * 100) / 100;
  const content = per(created.reduce((total, [, count]) => total + count, 0));
  const [points, requests, notifying] = [per(counts.points()), per(counts.total()), per(counts.content())];
  const [anHour, aMinute] = [Math.floor(CONTENT_AN_HOUR / content), Math.floor((CONTENT_A_MINUTE * 60) / content)];
  const most = created.map(([route, count]) => `${per(count)} ${shortOf(route)}`).join(", ");
  const measured =
    `${content} create content (${most}); ${points} points, ${requests} requests; ` +
    `${anHour} merges an hour by 500 an hour, ${aMinute} by 80 a minute`;
  const verdict = { goal: `at most ${goal} create content`, holds: content <= goal };
  return promised("github", `a merge ${name}`, measured, verdict, { content, notifying, points, requests, anHour });
}

const shortOf = (route: string): string => route.replace("/repos/{owner}/{repo}/", "").replaceAll(/\{\w+\}/gu, "…");
