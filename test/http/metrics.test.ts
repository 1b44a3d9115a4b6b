/** GET /getMergeQueueMetrics as a Prometheus server scrapes it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { aService, type Service } from "../support/service.ts";

let service: Service;

beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

const repo = { host: "git.local", owner: "acme", name: "app" };

const scrape = async (query = "", token = service.server().adminToken) => {
  const answer = await fetch(`${service.server().url}/getMergeQueueMetrics${query}`, {
    headers: { "x-api-token": token },
  });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
};

test("nothing to tell is an empty text, not an error", async () => {
  const media = "text/plain; version=0.0.4; charset=utf-8";
  expect(await scrape()).toEqual({ status: 200, type: media, text: "" });
  expect(await scrape("?repo=acme/none&repoHost=git.local")).toEqual({ status: 200, type: media, text: "" });
});

test("a new queue has its series at once, and a submitted pull request is in them", async () => {
  await service.asks("/createQueue", { repo, targetBranch: "main" });
  const depth = (await scrape("?repo=acme/app&repoHost=git.local")).text;
  expect(depth).toContain('\nmq_depth_current{repo="acme/app",branch="main",queue_type="main"} 0\n');
  await service.asks("/submitPullRequest", { repo, targetBranch: "main", pr: { number: 1 } });
  const submitted = (await scrape()).text;
  expect(submitted).toContain('\nmq_awaiting_mergeability{repo="acme/app",branch="main",queue_type="main"} 1\n');
});

test("a repository is named with its host, or not at all", async () => {
  for (const query of ["?repo=acme/app", "?repoHost=git.local"]) expect((await scrape(query)).status).toBe(400);
});

test("metrics need a token", async () => {
  expect((await scrape("", "mlq_none")).status).toBe(401);
});
