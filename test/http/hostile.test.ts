/** Pull requests and callers that mean harm, against the real server: everybody else goes on. */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestRepository } from "../support/git-repository.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

/** A pull request whose tree holds a file named `.git`, as a client of one's own can push it. */
function withDotGit(repo: TestRepository, prNumber: number): void {
  const write = (type: string, input: string | Buffer): string => {
    const args = [`--git-dir=${repo.dir}`, "hash-object", "-t", type, "-w", "--stdin", "--literally"];
    return spawnSync("git", args, { input, encoding: "utf8" }).stdout.trim();
  };
  const item = (path: string, name = path): Buffer[] => [
    Buffer.from(`100644 ${name}\0`),
    Buffer.from(repo.sha(`main:${path}`), "hex"),
  ];
  const tree = write(
    "tree",
    Buffer.concat([...item("README.md", ".git"), ...item(".mainline.yaml"), ...item("README.md")]),
  );
  const who = "Eve <eve@example.com> 1700000000 +0000";
  const text = `tree ${tree}\nparent ${repo.sha("main")}\nauthor ${who}\ncommitter ${who}\n\nInnocent\n`;
  repo.git("update-ref", `refs/pull/${prNumber}/head`, write("commit", text));
}

it("content that cannot be checked out fails, and who is behind it lands", async () => {
  const { repo, queue } = await service.queue();
  withDotGit(repo, 1);
  repo.pullRequest(2, { files: { b: "b" } });
  await queue.submit(1);
  await queue.submit(2);
  expect(await queue.ends(1)).toMatchObject({ state: "FAILED", conclusion: { reason: "TESTS_FAILED" } });
  expect(await queue.ends(2)).toMatchObject({ state: "MERGED" });
});

it("a .mainline.yaml whose error cannot be written as it stands fails its own pull request alone", async () => {
  const { repo, queue } = await service.queue();
  repo.pullRequest(1, { files: { ".mainline.yaml": 'checks: {"\\ud83d": "true"}' } });
  repo.pullRequest(2, { files: { ".mainline.yaml": 'checks: {unit: "true\\0"}' } });
  repo.pullRequest(3, { files: { b: "b" } });
  for (const number of [1, 2, 3]) await queue.submit(number);
  const ends = await Promise.all([1, 2, 3].map((number) => queue.ends(number)));
  expect(ends.map((one) => one.state)).toEqual(["FAILED", "FAILED", "MERGED"]);
});

it("a title that is cut in the middle of a character can be submitted", async () => {
  const { repo, queue } = await service.queue();
  repo.pullRequest(1, { files: { b: "b" }, message: `${"a".repeat(499)}\u{1F600}` });
  await queue.submit(1);
  expect(await queue.ends(1)).toMatchObject({ state: "MERGED" });
});

it.each(["", "0", "../", "\0", "\ud800", "0001795265408285#", "0001795265408285#a/b"])(
  "a cursor that was tampered with is 400: %j",
  async (ended) => {
    const { repo, queue } = await service.queue();
    const { host, owner, name } = repo.key;
    const of = `local:${host}/${owner}/${name}@main   `;
    const cursor = Buffer.from(JSON.stringify({ of, ended })).toString("base64url");
    expect((await queue.asks("/listPullRequests", { cursor })).status).toBe(400);
    const good = Buffer.from(JSON.stringify({ of, ended: "~" })).toString("base64url");
    expect((await queue.asks("/listPullRequests", { cursor: good })).status).toBe(200);
  },
);

it("every answer of this file was what the OpenAPI document promises", () => {
  expect(service.breaches()).toEqual([]);
});
