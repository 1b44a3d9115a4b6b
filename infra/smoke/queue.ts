/** The scratch queue: made, written to, woken, and removed. */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Check, codeOf, outcome, refused, type Scratch, type Site, succeeded, told } from "./check.ts";

/** No such host, and no such repository: nobody's queue is met. */
export const aScratch = (): Scratch => ({
  repo: { host: "smoke.invalid", owner: "mainline-smoke", name: `scratch-${randomBytes(4).toString("hex")}` },
  targetBranch: "smoke/é#1",
});

export const creation: Check = {
  name: "createQueue",
  run: async ({ ask }) => succeeded(await ask("/createQueue")),
};

const pullRequest = z.object({ timeline: z.array(z.object({ to: z.string() })) });
const PR = { pr: { number: 1 } };
const LOOP_MS_MAX = 150_000;
/** What takes longer was not woken by the stream: the sweep found it. */
const PROMPT_MS = 20_000;

/** The state is answered as soon as it was asked for; a line of the timeline is written by the loop alone. */
async function hasLooped({ ask }: Site): Promise<boolean> {
  const { json } = await ask("/getSubmittedPullRequest", { ...PR, includeTimeline: true });
  return pullRequest.safeParse(json).data?.timeline.some(({ to }) => to === "CANCELLED") === true;
}

async function cancelled(site: Site): Promise<number | undefined> {
  const begun = performance.now();
  for (; performance.now() - begun < LOOP_MS_MAX; await sleep(250))
    if (await hasLooped(site)) return performance.now() - begun;
  return undefined;
}

/** In their order: what comes later stands on what came before. */
export const uses: readonly Check[] = [
  {
    name: "getQueue answers what createQueue wrote",
    run: async ({ ask, scratch }) => {
      const reply = await ask("/getQueue");
      const branch = z.object({ branch: z.string() }).safeParse(reply.json).data?.branch;
      return branch === scratch.targetBranch
        ? succeeded(reply)
        : outcome("fail", `the branch is ${branch ?? told(reply)}`);
    },
  },
  {
    name: "the same Idempotency-Key and body: the first answer again",
    run: async ({ ask }) => {
      const key = { "idempotency-key": randomUUID() };
      const first = await ask("/updateQueue", { concurrency: 7 }, key);
      const again = await ask("/updateQueue", { concurrency: 7 }, key);
      if (first.status !== 200 || again.text !== first.text)
        return outcome("fail", `${told(first)}, then ${told(again)}`);
      const { "idempotency-replayed": replayed } = again.headers;
      return replayed === "true" ? succeeded(again) : outcome("fail", "200 without Idempotency-Replayed: true");
    },
  },
  {
    name: "the same Idempotency-Key, another body",
    run: async ({ ask }) => {
      const key = { "idempotency-key": randomUUID() };
      await ask("/updateQueue", { concurrency: 5 }, key);
      return refused(await ask("/updateQueue", { concurrency: 6 }, key), 422, "IDEMPOTENCY_KEY_REUSED");
    },
  },
  {
    name: "a pull request is submitted and cancelled: the stream wakes the loop",
    run: async (site) => {
      const submitted = await site.ask("/submitPullRequest", PR);
      if (submitted.status !== 200) return outcome("fail", `submitPullRequest: ${told(submitted)}`);
      const asked = await site.ask("/cancelPullRequest", PR);
      if (asked.status !== 200) return outcome("fail", `cancelPullRequest: ${told(asked)}`);
      const ms = await cancelled(site);
      if (ms === undefined)
        return outcome("fail", `not in the timeline after ${LOOP_MS_MAX / 1000} s: neither stream nor sweep`);
      const took = `in the timeline after ${(ms / 1000).toFixed(1)} s`;
      return ms > PROMPT_MS ? outcome("fail", `${took}: by the sweep; does advance-queue run?`) : outcome("pass", took);
    },
  },
  {
    name: "a JUnit file, its facts in the query, a plus that nobody has encoded among them",
    run: async ({ send, token, scratch: { repo } }) => {
      const facts = new URLSearchParams({
        repo: `${repo.owner}/${repo.name}`,
        repoHost: repo.host,
        sha: "a".repeat(40),
        branch: "smoke/é#1",
        job: "smoke",
      });
      const now = new Date().toISOString().slice(0, 19);
      const path = `/flaky-tests/upload-test-results?${facts.toString()}&started_at=${now}+00:00`;
      const body =
        '<testsuites><testsuite name="smoke"><testcase classname="smoke" name="passes"/></testsuite></testsuites>';
      const reply = await send(path, { body, headers: { "content-type": "application/xml", "x-api-token": token } });
      const tests = z.object({ tests: z.number() }).safeParse(reply.json).data?.tests;
      return tests === 1 ? succeeded(reply) : outcome("fail", `${told(reply)}; expected one test to be read`);
    },
  },
];

const REMOVAL_MS_MAX = 60_000;

/** Also after anything that failed. What a crash of this very program leaves is empty and may be deleted by hand. */
export const removal: Check = {
  name: "deleteQueue",
  run: async ({ ask }) => {
    const begun = performance.now();
    for (;;) {
      const reply = await ask("/deleteQueue");
      if (codeOf(reply) === "QUEUE_NOT_FOUND") return outcome("pass", "there is none");
      const isBusy = codeOf(reply) === "QUEUE_NOT_EMPTY" && performance.now() - begun < REMOVAL_MS_MAX;
      if (!isBusy) return succeeded(reply);
      await ask("/cancelPullRequest", PR);
      await sleep(1_000);
    }
  },
};
