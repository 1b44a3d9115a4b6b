/** Plays a story on GitHub's twin, and says what was not as it should be. */
import { setTimeout as sleep } from "node:timers/promises";
import { queue as queueShape } from "../../../../shared/schemas/queue.ts";
import { eventually } from "../../../support/eventually.ts";
import type { OnGitHub } from "../../../support/github-service.ts";
import { type Fields, type QueueClient, shown } from "../../../support/service.ts";
import type { Act, Scenario, When } from "../scenario.ts";
import { SCENARIOS } from "../all.ts";
import { configOf, holds, isGood, numbersIn } from "./cast.ts";
import { headOf, SECOND_MS, setStage, type Stage } from "./stage.ts";

/** Much longer than any story takes. */
const HAND = ["-c", "user.name=Hand", "-c", "user.email=hand@example.com"];

/** Where GitHub itself makes another end of a story, or none. */
const DELETED = "the target branch is deleted and comes back";
const OTHER_ENDS: Readonly<Record<string, Scenario["ends"]>> = {
  // GitHub closes every pull request into a branch that is deleted.
  [DELETED]: { 1: "CANCELLED" },
};
export const NOT_ON_GITHUB: Readonly<Record<string, string>> = {
  "nothing can be built of it": "a head that is there merges, or conflicts and is not admitted",
  "a test never ends, and its time runs out": "the shortest timeout is a minute, and another suite waits for it",
};
export const STORIES: readonly Scenario[] = SCENARIOS.filter((one) => NOT_ON_GITHUB[one.name] === undefined);

export async function playOnGitHub(on: OnGitHub, scenario: Scenario, at: number): Promise<readonly string[]> {
  try {
    const stage = await setStage(on, scenario, at);
    const isTwinned = Object.values(scenario.prs).some((one) => one.mends !== undefined);
    const mergeMethod = isTwinned || at % 2 === 0 ? "merge_commit" : "squash";
    const settings: Fields = { mode: "single", concurrency: 5, mergeMethod, ...scenario.settings };
    shown(queueShape, await stage.queue.asks("/createQueue", settings));
    for (const act of scenario.acts) {
      if (act.when !== undefined) await waitFor(stage, act.when);
      await perform(stage, act);
    }
    await untilEnded(stage);
    return await judge(stage);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const stateOf = async ({ queue }: Stage, number: number): Promise<string> => {
  const { pullRequests } = await queue.several(number);
  return pullRequests[0]?.state ?? "";
};

async function waitFor(stage: Stage, when: When): Promise<void> {
  if ("minutes" in when) return sleep(when.minutes * SECOND_MS);
  const what = `#${when.pr} in ${when.is}`;
  await eventually(
    () => stateOf(stage, when.pr),
    (state) => state === when.is,
    { what },
  );
}

/** A service that is out of breath says so, and is asked again. */
async function sendTo(queue: QueueClient, path: string, body: Fields): Promise<void> {
  const asks = (): ReturnType<QueueClient["asks"]> => queue.asks(path, body);
  const { status, body: said } = await eventually(asks, (answer) => answer.status !== 503, { what: path });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(said)}`);
}

async function perform(stage: Stage, act: Act): Promise<void> {
  const { on, name, queue } = stage;
  const { twin } = on;
  const send = (path: string, body: Fields): Promise<void> => sendTo(queue, path, body);
  if ("submit" in act) {
    const { submit: number, priority, noBatch } = act;
    const wishes = { ...(priority === undefined ? {} : { priority }), ...(noBatch === undefined ? {} : { noBatch }) };
    await send("/submitPullRequest", { pr: { number }, ...wishes });
  } else if ("cancel" in act) await send("/cancelPullRequest", { pr: { number: act.cancel } });
  else if ("restart" in act) await send("/restartTestsOnPullRequest", { pr: { number: act.restart } });
  else if ("targets" in act) {
    const { sha } = twin.pull(name, act.targets).head;
    await send("/setImpactedTargets", { pr: { number: act.targets, sha }, impactedTargets: act.are });
  } else if ("update" in act) await send("/updateQueue", act.update);
  else if ("push" in act) await twin.push(name, headOf(act.push), { files: { [`app/${act.push}.txt`]: "2\n" } });
  else if ("close" in act) await twin.closePullRequest(name, act.close);
  else if ("makeReady" in act) await twin.editPullRequest(name, act.makeReady, { draft: false });
  else if ("retarget" in act) await retarget(stage, act.retarget, act.to);
  else if ("mergeByHand" in act) await mergeByHand(stage, act.mergeByHand);
  else if ("pushTarget" in act)
    await twin.push(name, "main", { files: { "by-hand.txt": "1\n", ...configOf(act.pushTarget) } });
  else if (act.target === "DELETED") await twin.deleteBranch(name, "main");
  else await move(stage, stage.start);
}

async function retarget({ on: { twin }, name, start }: Stage, number: number, base: string): Promise<void> {
  if (!(await twin.branches(name)).includes(base))
    await twin.push(name, base, { files: { "other.txt": "1\n" }, on: start });
  await twin.editPullRequest(name, number, { base });
}

async function mergeByHand(stage: Stage, number: number): Promise<void> {
  const { repo, on, name } = stage;
  const { sha } = on.twin.pull(name, number).head;
  const tree = repo.git("merge-tree", "--write-tree", "main", sha);
  await move(stage, repo.git(...HAND, "commit-tree", "-p", "main", "-p", sha, "-m", "By hand", tree));
}

async function move({ repo, on, name }: Stage, sha: string): Promise<void> {
  repo.git("update-ref", "refs/heads/main", sha);
  await on.twin.pushed(name);
}

const endsOf = ({ scenario }: Stage): Scenario["ends"] => OTHER_ENDS[scenario.name] ?? scenario.ends;

/** Of those that it does not take to an end, each waits for somebody. */
async function untilEnded(stage: Stage): Promise<void> {
  for (const [number, state] of Object.entries(endsOf(stage)))
    await eventually(
      () => stateOf(stage, Number(number)),
      (is) => is === (state === "OPEN" ? "NOT_READY" : state),
      { what: `#${number} ${state}` },
    ).catch(async (error: unknown) => {
      const { body } = await stage.queue.asks("/explainPullRequest", { pr: { number: Number(number) } });
      throw new Error(`${String(error)}: ${JSON.stringify(body)}`, { cause: error });
    });
}

async function judge(stage: Stage): Promise<readonly string[]> {
  const { repo, scenario, tips, queue, on, name } = stage;
  const ends = Object.entries(endsOf(stage));
  const wrong: string[] = [];
  for (const [number, expected] of ends)
    if (expected === "OPEN") await sendTo(queue, "/cancelPullRequest", { pr: { number: Number(number) } });
  const filesAt = (commit: string): readonly string[] => repo.git("ls-tree", "-r", "--name-only", commit).split("\n");
  const landed = filesAt("main").filter((path) => path.startsWith("prs/"));
  const expected = ends.filter(([, state]) => state === "MERGED").map(([number]) => holds(Number(number)));
  if (String(landed.toSorted()) !== String(expected.toSorted()))
    wrong.push(`on the target there is ${String(landed)}, and not ${String(expected)}`);
  for (const tip of tips)
    if (!isGood(scenario.prs, numbersIn(filesAt(tip)))) wrong.push(`the target was at ${tip}, which does not pass`);
  const bot = `${on.twin.app.slug}[bot]`;
  const left = async (): Promise<readonly string[]> => [
    ...(await on.twin.branches(name)).filter((branch) => branch.startsWith("mainline/")),
    ...on.twin
      .pulls(name)
      .filter((one) => one.state === "open" && one.author.login === bot)
      .map((one) => `#${one.number}`),
  ];
  await eventually(left, (some) => some.length === 0, { what: "nothing left on GitHub" });
  return wrong;
}
