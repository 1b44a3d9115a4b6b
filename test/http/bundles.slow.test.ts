/** The protocol of existing upload clients: create-bundle-upload, a PUT, get-upload, get-quarantine-config. */
import { zstdCompressSync } from "node:zlib";
import { packTar } from "modern-tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

/** As a client reads it from the remote: ids are made of exactly this. */
const REPO = { host: "github.com", owner: "Acme", name: "App" };
const announced = { repo: REPO, orgUrlSlug: "local", clientVersion: "cargo=0.1", remoteUrls: [], externalId: null };
/** By the client's own rules, of `local#github.com/Acme/App#src/a.ts#a#unit#shaky#JUNIT_TESTCASE`. */
const SHAKY = "dac2e8f1-36c7-5380-b2a9-8d65174a2cc9";

const JUNIT =
  '<testsuites><testsuite name="unit"><testcase classname="a" name="shaky" file="src/a.ts">' +
  '<failure message="late"/></testcase><testcase classname="a" name="good" file="src/a.ts"/></testsuite></testsuites>';

const meta = (sha: string): object => ({
  version: "1",
  org: "local",
  repo: { repo: REPO, repo_root: "/app", repo_head_sha: sha, repo_head_branch: "main" },
  file_sets: [{ file_set_type: "Junit", files: [{ original_path: "/app/junit.xml", path: "junit/0", owners: [] }] }],
  envs: { GITHUB_REF: "refs/pull/12/merge", GITHUB_JOB: "unit", GITHUB_RUN_ATTEMPT: "1" },
  variant: "",
  upload_time_epoch: Math.floor(Date.now() / 1000),
  codeowners: { path: "/app/CODEOWNERS" },
});

async function bundle(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }));
  return zstdCompressSync(await packTar(entries));
}

const good = (sha = "0123456789abcdef0123456789abcdef01234567"): Promise<Buffer> =>
  bundle({ "meta.json": JSON.stringify(meta(sha)), "junit/0": JUNIT, CODEOWNERS: "*.ts @acme/web\n" });

async function announce(): Promise<{ id: string; idV2: string; url: string; key: string }> {
  const { status, body } = await service.asks("/metrics/createBundleUpload", announced);
  expect(status).toBe(200);
  return body as { id: string; idV2: string; url: string; key: string };
}

const put = (url: string, body: Buffer): Promise<Response> => fetch(url, { method: "PUT", body: new Uint8Array(body) });

const becameOf = (id: string) =>
  eventually(
    async () => {
      const { body } = await service.asks("/flaky-tests/get-upload", { repo: REPO, upload_id: id });
      return body as { state: string; problem: string | null; answer: { tests: number; failures: number } | null };
    },
    ({ state }) => state !== "WAITING",
    { what: "the bundle's end" },
  );

describe("a bundle", () => {
  it("is announced, put, read, and counts as uploads of its files, with its owners and its pull request", async () => {
    const { id, idV2, url, key } = await announce();
    expect([idV2, key.length > 0]).toEqual([id, true]);
    expect((await put(url, await good())).status).toBe(200);
    expect(await becameOf(id)).toMatchObject({ state: "PROCESSED", problem: null, answer: { tests: 2, failures: 1 } });
    const [start_time, end_time] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
    const window = { start_time, end_time };
    const { body } = await service.asks("/flaky-tests/list-failing-tests", {
      repo: REPO,
      org_url_slug: "local",
      ...window,
    });
    expect(body).toMatchObject({
      tests: [{ name: "shaky", codeowners: ["@acme/web"], pull_requests_impacted_last_7d: 1 }],
    });
  });

  it("is taken once, and only at an address that was given out", async () => {
    const { id, url } = await announce();
    const content = await good("1123456789abcdef0123456789abcdef01234567");
    const forged = [
      url.replace(
        id,
        id.replace(/^./u, (digit) => (digit === "0" ? "1" : "0")),
      ),
      `${url}0`,
    ];
    for (const address of forged) expect((await put(address, content)).status).toBe(403);
    expect((await put(url.replace(/expires=\d+/u, "expires=99999999999999"), content)).status).toBe(403);
    expect((await put(url, content)).status).toBe(200);
    expect((await put(url, content)).status).toBe(403);
    expect((await becameOf(id)).state).toBe("PROCESSED");
  });

  it("that cannot be read has failed, and its record says why", async () => {
    const bad = {
      archive: Buffer.from("hello"),
      whole: (await good()).subarray(0, 100),
      "meta.json": await bundle({ "junit/0": JUNIT }),
      commit: await bundle({ "meta.json": JSON.stringify(meta("")), "junit/0": JUNIT }),
    };
    const became = Object.entries(bad).map(async ([what, bytes]) => {
      const { id, url } = await announce();
      expect((await put(url, bytes)).status).toBe(200);
      const { state, problem, answer } = await becameOf(id);
      return { what, state, says: /\w{3}/u.test(problem ?? ""), answer };
    });
    const failed = { state: "FAILED", says: true, answer: null };
    expect(await Promise.all(became)).toEqual(Object.keys(bad).map((what) => ({ what, ...failed })));
  });

  it("of another organization is announced to nobody", async () => {
    const { status } = await service.asks("/metrics/createBundleUpload", { ...announced, orgUrlSlug: "other" });
    expect(status).toBe(404);
  });
});

describe("which tests are quarantined", () => {
  const config = async (more: object) => {
    const asked = { repo: REPO, orgUrlSlug: "local", remoteUrls: [], ...more };
    return (await service.asks("/metrics/getQuarantineConfig", asked)).body;
  };
  const names = { name: "shaky", parentName: "unit", className: "a", file: "src/a.ts" };

  it("is answered by the ids that clients make, or by names", async () => {
    const { id: upload, url } = await announce();
    await put(url, await good("2123456789abcdef0123456789abcdef01234567"));
    await becameOf(upload);
    const [start_time, end_time] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
    const at = { repo: REPO, org_url_slug: "local" };
    const { body } = await service.asks("/flaky-tests/list-failing-tests", { ...at, start_time, end_time });
    const [{ id } = { id: "" }] = (body as { tests: { id: string }[] }).tests;
    expect(id).toBe(SHAKY);
    expect(await config({ testIdentifiers: [{ ...names, id }] })).toEqual({ isDisabled: false, testIds: [] });
    await service.asks("/flaky-tests/set-quarantine", { ...at, test_case_id: id, setting: "ALWAYS_QUARANTINE" });
    expect(
      await config({
        testIdentifiers: [
          { ...names, id },
          { name: "other", id: "x" },
        ],
      }),
    ).toEqual({
      isDisabled: false,
      testIds: [id],
    });
    expect(await config({ testIdentifiers: [names] })).toEqual({ isDisabled: false, testIds: [id] });
    await service.asks("/flaky-tests/update-settings", { ...at, canQuarantine: false });
    expect(await config({ testIdentifiers: [names] })).toEqual({ isDisabled: true, testIds: [] });
  });
});
