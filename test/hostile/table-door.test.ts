/** The embedded table believes whoever reaches it, so nobody may: no check of a pull request, no other program. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { findSandbox } from "../../shared/code-host/git/sandbox.ts";
import { silentLog } from "../../shared/kernel/log.ts";
import { LOCAL_TABLE_NAME } from "../../shared/table/table-definition.ts";
import { findNamespace } from "../../infra/local/table-namespace.ts";
import { eventually } from "../support/eventually.ts";
import { aService, type Service } from "../support/service.ts";

let service: Service | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** Of this run of the tests alone: other tables may be about, of tests in memory. */
const NAME = `door-${process.pid}`;

/** Asks everything that listens on this machine, and every socket that it can see, for this repository's queue. */
const PROBE = `
const fs = require("node:fs"), http = require("node:http");
const ask = (at) => new Promise((resolve) => {
  const headers = { "x-amz-target": "DynamoDB_20120810.Scan", "content-type": "application/x-amz-json-1.0",
    authorization: "AWS4-HMAC-SHA256 Credential=me/20240101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
    "x-amz-date": "20240101T000000Z" };
  const request = http.request({ ...at, method: "POST", path: "/", headers, timeout: 2000 }, (answer) => {
    let text = "";
    answer.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
  });
  request.on("error", () => resolve("")).on("timeout", () => request.destroy()).end(JSON.stringify({ TableName: "${LOCAL_TABLE_NAME}" }));
});
const ports = ["tcp", "tcp6"].flatMap((name) => fs.readFileSync("/proc/net/" + name, "utf8").split("\\n")
  .map((line) => line.trim().split(/\\s+/)).filter((cells) => cells[3] === "0A").map((cells) => parseInt(cells[1].split(":")[1], 16)));
const sockets = fs.readFileSync("/proc/net/unix", "utf8").split("\\n").map((line) => line.split(" ").at(-1)).filter((path) => path.startsWith("/"));
(async () => {
  for (const port of ports) if ((await ask({ port, host: "127.0.0.1" })).includes("${NAME}")) console.log("FOUND port");
  for (const path of sockets) if ((await ask({ socketPath: path })).includes("${NAME}")) console.log("FOUND " + path);
  console.log("asked " + (ports.length + sockets.length));
})();
`;

const confines = (await findSandbox({ hide: [], log: silentLog })).confined && (await findNamespace()) !== undefined;

/** What the checks of this service have printed. */
const logs = (of: Service): string => {
  const runs = join(of.server().data, "hosts", "local", "runs");
  const files = existsSync(runs) ? readdirSync(runs, { recursive: true, encoding: "utf8" }) : [];
  return files
    .filter((name) => name.endsWith(".log"))
    .map((name) => readFileSync(join(runs, name), "utf8"))
    .join("\n");
};

describe("a check of a pull request", () => {
  it("finds no door to the table, however it looks", async (context) => {
    if (!confines) context.skip("bubblewrap does not work here");
    service = await aService();
    const checks = { probe: "node probe.cjs" };
    const { repo, queue } = await service.queue({ name: `acme/${NAME}`, checks, files: { "probe.cjs": PROBE } });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    expect(await queue.ends(1)).toMatchObject({ state: "MERGED" });
    expect(logs(service)).toMatch(/asked \d+/u);
    expect(logs(service)).not.toContain("FOUND");
  });

  it("does not run where the table is open to this machine, and the explanation says what to do", async () => {
    const said: string[] = [];
    const open = { isTrusted: false, namespace: async () => undefined, say: (line: string) => void said.push(line) };
    service = await aService([], undefined, open);
    expect(said.join("\n")).toMatch(/open to every program on this machine.*no check.*--trust-this-machine/u);
    const { repo, queue } = await service.queue({ checks: { unit: "touch ran" } });
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    const waits = await eventually(
      () => queue.explain(1),
      (explained) => JSON.stringify(explained).includes("no check runs on this machine"),
    );
    expect(JSON.stringify(waits)).toContain("--trust-this-machine");
    expect(logs(service)).toBe("");
  });
});

describe("where the table is open to this machine", () => {
  const open = { isTrusted: false, namespace: async () => undefined };

  it("a second organization is not served", async () => {
    service = await aService([], undefined, open);
    const token = await service.token("create", "--org", "other", "--scopes", "read,submit,admin");
    expect((await service.as(token)("/listQueues")).status).toBe(401);
    expect((await service.asks("/listQueues")).status).toBe(200);
  });

  it("and two of them are refused at the start", async () => {
    const both = aService(["--repositories", "other=."], undefined, open);
    await expect(both).rejects.toThrow(/only one organization/u);
  });

  it("whoever trusts the machine gets both", async () => {
    service = await aService([], undefined, { ...open, isTrusted: true });
    const token = await service.token("create", "--org", "other", "--scopes", "read,submit,admin");
    expect((await service.as(token)("/listQueues")).status).toBe(200);
    const { repo, queue } = await service.queue();
    repo.pullRequest(1, { files: { "a.txt": "1\n" } });
    await queue.submit(1);
    expect(await queue.ends(1)).toMatchObject({ state: "MERGED" });
  });
});

it("a nearly full data disk lets no check start, and the explanation says so", async () => {
  service = await aService([], undefined, { freeBytesMin: Number.MAX_SAFE_INTEGER });
  const { repo, queue } = await service.queue();
  repo.pullRequest(1, { files: { "a.txt": "1\n" } });
  await queue.submit(1);
  await eventually(
    () => queue.explain(1),
    (explained) => JSON.stringify(explained).includes("no check starts while the data disk has less than"),
  );
  expect(logs(service)).toBe("");
});
