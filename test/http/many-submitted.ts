import { expect } from "vitest";
import type { LocalService } from "../support/service.ts";

const ENDED = new Set(["MERGED", "FAILED", "CANCELLED"]);

/** Each client has a PR of its own. All but one of `each` are cancelled again. */
export async function manySubmitted(service: LocalService, count: number, each: number): Promise<void> {
  const { repo, queue } = await service.queue({ settings: { mergeMethod: "merge_commit" } });
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const pr = (number: number) => ({ pr: { number } });
  const base = repo.sha("main");
  for (const number of numbers) repo.pullRequest(number, { on: base, files: { [`${number}.txt`]: "1\n" } });
  const answers = await Promise.all(numbers.map((number) => queue.asks("/submitPullRequest", pr(number))));
  expect(answers.filter((one) => one.status !== 200).map((one) => one.body)).toEqual([]);
  const { enqueuedPullRequests } = await queue.view();
  const { pullRequests: ended } = await queue.list({ state: "MERGED", take: 100 });
  const known = new Set([...enqueuedPullRequests, ...ended].map((one) => one.prNumber));
  expect([...known].sort((a, b) => a - b)).toEqual(numbers);
  // Most are cancelled: that all of them end is the point, not that two cores test each of them.
  const cancelled = numbers.filter((number) => number % each !== 0);
  const outcomes = await Promise.all(cancelled.map((number) => queue.asks("/cancelPullRequest", pr(number))));
  for (const outcome of outcomes) expect([200, 409]).toContain(outcome.status);
  await service.until(
    async () => (await queue.list({ take: 100 })).pullRequests,
    (all) => all.length === count && all.every((one) => ENDED.has(one.state)),
  );
  const merged = (await queue.list({ state: "MERGED", take: 100 })).pullRequests;
  const landed = repo.subjects(`${base}..main`);
  expect(landed).toHaveLength(merged.length);
  expect(merged.length).toBeGreaterThanOrEqual(count / each);
}
