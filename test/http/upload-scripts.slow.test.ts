/**
 * What teams already run in CI against the hosted original of this API: shell, curl and jq. They know one success, the
 * status 200.
 */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aFolder, type TestRepository } from "../support/git-repository.ts";
import { aService, type QueueClient, type Service } from "../support/service.ts";

let service: Service;
let queue: QueueClient;
let repo: TestRepository;
let folder = "";
let token = "";
let head = "";
beforeAll(async () => {
  folder = aFolder();
  service = await aService();
  const made = await service.queue({ name: "Acme/App" });
  queue = made.queue;
  repo = made.repo;
  head = repo.pullRequest(17, { files: { "a.txt": "1\n" } });
  token = await service.token(
    "create",
    "--org",
    "local",
    "--name",
    "ci",
    "--scopes",
    "read,submit",
    "--enum-case",
    "lower",
  );
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A script as CI runs it: `set -euo pipefail`, in its own folder, with the facts of the PR in its environment. */
const bash = (script: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const facts = {
      API: service.server().url,
      API_TOKEN: token,
      REPO_OWNER: "Acme",
      REPO_NAME: "App",
      PR_NUMBER: "17",
      PR_SHA: head,
      TARGET_BRANCH: "main",
    };
    const options = { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder, ...facts, ...env } };
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", script], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });

const POST = `
HTTP_STATUS_CODE=$(
  curl -sS -o ./response.txt -w '%{http_code}' -X POST \\
    -H 'Content-Type: application/json' -H "x-api-token: $API_TOKEN" -H 'x-forked-workflow-run-id: ' \\
    \${MORE:+-H "$MORE"} -d @./body.json "$API/setImpactedTargets"
)
if [[ $HTTP_STATUS_CODE != 200 ]]; then
  echo "failed with $HTTP_STATUS_CODE: $(cat ./response.txt)" >&2
  exit 1
fi
cat ./response.txt`;

/** The body in the way the scripts make it: the number is a string, since shells know nothing else. */
const JQ = `
jq -n --arg owner "$REPO_OWNER" --arg name "$REPO_NAME" --arg number "$PR_NUMBER" --arg sha "$PR_SHA" \\
  --arg branch "$TARGET_BRANCH" --argjson targets "$(cat ./targets.json)" \\
  '{repo: {host: "git.local", owner: $owner, name: $name}, pr: {number: $number, sha: $sha},
    targetBranch: $branch, impactedTargets: $targets}' > ./body.json`;

/** The same where the list is too long for an argument. */
const JQ_FROM_FILE = `
jq -R . ./targets.txt | jq -s . > ./targets.json
jq -n --slurpfile targets ./targets.json --arg owner "$REPO_OWNER" --arg name "$REPO_NAME" --arg number "$PR_NUMBER" \\
  --arg sha "$PR_SHA" --arg branch "$TARGET_BRANCH" \\
  '{repo: {host: "git.local", owner: $owner, name: $name}, pr: {number: $number, sha: $sha},
    targetBranch: $branch, impactedTargets: $targets[0]}' > ./body.json`;

const targets = (value: unknown): void => writeFileSync(join(folder, "targets.json"), JSON.stringify(value));
const answer = (ran: Ran): unknown => {
  if (ran.code !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
};

describe("an upload script that accepts only 200", () => {
  it.each([
    [["//a", "//b"], 2],
    [[], 0],
    ["ALL", "ALL"],
  ])("succeeds with impactedTargets %j", async (value, shown) => {
    targets(value);
    expect(answer(await bash(JQ + POST))).toEqual({ prNumber: 17, prSha: head, impactedTargets: shown });
  });

  it.each(["Expect: 100-continue", "Expect:", "Transfer-Encoding: chunked", "Accept: */*, application/json"])(
    "succeeds with the header %j",
    async (header) => {
      targets(["//a"]);
      expect(answer(await bash(JQ + POST, { MORE: header }))).toMatchObject({ impactedTargets: 1 });
    },
  );

  it("succeeds from a file of several megabytes, for which curl itself asks with Expect: 100-continue", async () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `//some/package/number-${at}:target`);
    writeFileSync(join(folder, "targets.txt"), `${lines.join("\n")}\n`);
    expect(answer(await bash(JQ_FROM_FILE + POST))).toMatchObject({ impactedTargets: 200_000 });
    expect(readFileSync(join(folder, "body.json")).length).toBeGreaterThan(6_000_000);
    expect(answer(await bash(JQ_FROM_FILE + POST, { MORE: "Expect: 100-continue" }))).toMatchObject({
      impactedTargets: 200_000,
    });
  });

  it("succeeds compressed, with the bytes on the wire as gzip made them", async () => {
    targets(["//a", "//b", "//c"]);
    const zipped = `gzip -f ./body.json && mv ./body.json.gz ./body.json`;
    const binary = POST.replace("-d @./body.json", "--data-binary @./body.json");
    const ran = await bash(`${JQ}\n${zipped}\n${binary}`, { MORE: "Content-Encoding: gzip" });
    expect(answer(ran)).toMatchObject({ impactedTargets: 3 });
  });

  it("with curl -d, which joins the lines of a pretty-printed file, and with other spacing", async () => {
    targets(["//a"]);
    const pretty = `${JQ}\njq --indent 7 . ./body.json > ./pretty.json && mv ./pretty.json ./body.json`;
    expect(answer(await bash(pretty + POST))).toMatchObject({ impactedTargets: 1 });
  });

  it("at an address with a slash too many, since curl -L follows the 308 with the same body", async () => {
    targets(["//a"]);
    const twice = POST.replace("$API/", "$API//").replace("curl -sS", "curl -sS -L");
    expect(answer(await bash(JQ + twice))).toMatchObject({ impactedTargets: 1 });
  });

  it("succeeds with a charset in its content type", async () => {
    targets(["//a"]);
    const charset = POST.replace("application/json'", "application/json; charset=utf-8'");
    expect(answer(await bash(JQ + charset))).toMatchObject({ impactedTargets: 1 });
  });

  it("fails, with a message to print, when the token is wrong; a refusal reaches a client that waits for 100", async () => {
    targets(["//a"]);
    for (const more of ["Expect: 100-continue", "Expect:"]) {
      const ran = await bash(JQ + POST, { API_TOKEN: "mlq_wrong", MORE: more });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/failed with 401: .*UNAUTHENTICATED/u);
    }
  });

  it("fails with 413 for a body above the limit, also while it is still sending", async () => {
    writeFileSync(join(folder, "body.json"), Buffer.alloc(40 * 1024 * 1024, 0x20));
    for (const more of ["Expect: 100-continue", "Expect:"]) {
      const ran = await bash(POST, { MORE: more });
      expect(ran.stderr).toMatch(/failed with 413: .*\\"ALL\\"/u);
    }
  });

  it("and what it uploaded counts: the PR it submits afterwards has its targets", async () => {
    targets(["//a"]);
    const submit = `
      jq -n --arg number "$PR_NUMBER" '{repo: {host: "git.local", owner: "acme", name: "app"}, targetBranch: "main",
        pr: {number: $number}, priority: "high"}' |
      curl -fsS -X POST -H 'Content-Type: application/json' -H "x-api-token: $API_TOKEN" -d @- "$API/submitPullRequest"`;
    const ran = await bash(`${JQ}\n${POST} > /dev/null\n${submit}`);
    expect(answer(ran)).toMatchObject({
      state: "not_ready",
      prNumber: 17,
      priorityName: "high",
      readiness: { hasImpactedTargets: true, gitHubMergeability: "mergeable" },
    });
    expect((await queue.ends(17)).state).toBe("MERGED");
    expect(repo.subjects("main")[0]).toBe("A change (#17)");
  });
});

describe("a poller in shell", () => {
  it("reads lower case states with jq -r, and tells missing from refused by the status alone", async () => {
    repo.pullRequest(18, { files: { "b.txt": "1\n" } });
    await queue.submit(18);
    await queue.ends(18);
    const ask = (number: number): string => `
      curl -sS -o r.json -w '%{http_code} ' -X POST -H 'content-type: application/json' -H "x-api-token: $API_TOKEN" \\
        -d '{"repo":{"host":"git.local","owner":"acme","name":"app"},"targetBranch":"main","pr":{"number":${number}}}' \\
        "$API/getSubmittedPullRequest"; jq -r '.state // .error.code' r.json`;
    expect((await bash(ask(18))).stdout).toBe("200 merged\n");
    expect((await bash(ask(99))).stdout).toBe("404 PULL_REQUEST_NOT_FOUND\n");
  });
});
