/** What keeps a machine busy for long: everybody else goes on. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { aService, type QueueClient, type Service } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

it("a pull request that is slow to build keeps no other queue waiting", async () => {
  const slow = await service.queue({ settings: { mergeMethod: "REBASE" } });
  const other = await service.queue();
  const commit = (at: number): string =>
    `commit refs/pull/1/head\ncommitter A <a@b> ${at} +0000\ndata 1\nx\n${at === 1 ? "from refs/heads/main\n" : ""}` +
    `M 100644 inline f\ndata ${String(at).length}\n${at}\n`;
  const input = Array.from({ length: 499 }, (_, at) => commit(at + 1)).join("\n");
  spawnSync("git", [`--git-dir=${slow.repo.dir}`, "fast-import", "--quiet"], { input });
  other.repo.pullRequest(1, { files: { b: "b" } });
  await slow.queue.submit(1);
  await slow.queue.reaches(1, "PENDING");
  await other.queue.submit(1);
  await other.queue.ends(1);
  await expect(slowOne(slow.queue)).resolves.toBe("PENDING");
  expect(await slow.queue.cancel(1)).toMatchObject({ state: "CANCELLED" });
});

const slowOne = async (queue: QueueClient): Promise<string> => (await queue.get(1)).state;

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
