import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it } from "vitest";
import { type DataTable, openServerTable, openToolTable } from "../../../infra/local/data-table.ts";
import { identityOf, isRunning } from "../../../infra/local/process-identity.ts";
import type { Table } from "../../../shared/table/client.ts";

const open: DataTable[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "mainline-data-"));
  folders.push(folder);
  return folder;
};
const keep = async (opening: Promise<DataTable>): Promise<DataTable> => {
  const opened = await opening;
  open.push(opened);
  return opened;
};
const close = async (one: DataTable): Promise<void> => {
  open.splice(open.indexOf(one), 1);
  await one.close();
};

const write = (table: Table, sk: string) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: { pk: "test", sk } }));
const holds = async (table: Table, sk: string): Promise<boolean> => {
  const read = new GetCommand({ TableName: table.name, Key: { pk: "test", sk }, ConsistentRead: true });
  return (await table.client.send(read)).Item !== undefined;
};
const tableProcess = (data: string) => {
  const recorded: { pid: number; started: string } = JSON.parse(readFileSync(join(data, "table.json"), "utf8"));
  return recorded;
};
const until = async (condition: () => boolean): Promise<void> => {
  for (const end = performance.now() + 10_000; !condition(); await sleep(20))
    if (performance.now() > end) throw new Error("it did not happen within ten seconds");
};

/** A server in a process of its own that opens the table, writes one item, and says so. */
async function serverIn(data: string) {
  const program = `
    import { openServerTable } from ${JSON.stringify(join(process.cwd(), "infra/local/data-table.ts"))};
    import { PutCommand } from "@aws-sdk/lib-dynamodb";
    const { table } = await openServerTable({ data: ${JSON.stringify(data)} });
    await table.client.send(new PutCommand({ TableName: table.name, Item: { pk: "test", sk: "acknowledged" } }));
    console.log("ready");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => {
    child.stdout.once("data", resolve);
  });
  return child;
}

describe("the table of a data folder", () => {
  it("keeps what was written, across a stop and a start", async () => {
    const data = aFolder();
    const first = await keep(openServerTable({ data }));
    await write(first.table, "kept");
    await close(first);
    const second = await keep(openServerTable({ data }));
    expect(await holds(second.table, "kept")).toBe(true);
  });

  it("keeps every acknowledged write when its process is killed, and comes back by itself", async () => {
    const data = aFolder();
    const { table } = await keep(openServerTable({ data }));
    const acknowledged: string[] = [];
    const done = new AbortController();
    const writing = (async () => {
      for (let at = 0; !done.signal.aborted; at += 1) {
        await write(table, `w${at}`);
        acknowledged.push(`w${at}`);
      }
    })();
    for (let kill = 0; kill < 3; kill += 1) {
      await sleep(200);
      const before = tableProcess(data);
      process.kill(before.pid, "SIGKILL");
      await until(() => tableProcess(data).pid !== before.pid);
    }
    await sleep(200);
    done.abort();
    await writing;
    expect(acknowledged.length).toBeGreaterThan(20);
    for (const sk of acknowledged) expect(await holds(table, sk)).toBe(true);
  });

  it("is refused to a second server in one line", async () => {
    const data = aFolder();
    await keep(openServerTable({ data }));
    await expect(openServerTable({ data })).rejects.toThrow(
      `Another Mainline (process ${process.pid}) already runs on the data folder ${data}.`,
    );
  });

  it("is shared with a tool while the server runs, and opened by the tool itself when it does not", async () => {
    const data = aFolder();
    const server = await keep(openServerTable({ data }));
    const guest = await keep(openToolTable({ data }));
    expect(guest.endpoint).toBe(server.endpoint);
    await write(guest.table, "by a tool");
    await close(guest);
    expect(await holds(server.table, "by a tool")).toBe(true);
    await close(server);
    const alone = await keep(openToolTable({ data }));
    expect(await holds(alone.table, "by a tool")).toBe(true);
  });

  it("waits for a tool that is at work instead of refusing to start", async () => {
    const data = aFolder();
    const tool = await keep(openToolTable({ data }));
    const starting = keep(openServerTable({ data }));
    await sleep(100);
    await close(tool);
    expect((await starting).endpoint).not.toBe(tool.endpoint);
  });

  it("tells nobody but its owner where it is", async () => {
    const data = aFolder();
    await keep(openServerTable({ data }));
    expect(statSync(join(data, "endpoint")).mode & 0o777).toBe(0o600);
  });

  it("stops its process with it", async () => {
    const data = aFolder();
    const server = await keep(openServerTable({ data }));
    const recorded = tableProcess(data);
    expect(isRunning(recorded)).toBe(true);
    await close(server);
    expect(isRunning(recorded)).toBe(false);
  });
});

describe("what kill -9 left behind", () => {
  it("does not outlive the server for long, and the next start finds every acknowledged write", async () => {
    const data = aFolder();
    const server = await serverIn(data);
    const recorded = tableProcess(data);
    server.kill("SIGKILL");
    await until(() => !isRunning(recorded));
    const next = await keep(openServerTable({ data }));
    expect(await holds(next.table, "acknowledged")).toBe(true);
  });

  it("is replaced at once: lock, endpoint file and table process", async () => {
    const data = aFolder();
    const server = await serverIn(data);
    const stale = readFileSync(join(data, "endpoint"), "utf8");
    server.kill("SIGKILL");
    await until(() => server.signalCode !== null);
    const next = await keep(openServerTable({ data }));
    expect(await holds(next.table, "acknowledged")).toBe(true);
    expect(readFileSync(join(data, "endpoint"), "utf8")).not.toBe(stale);
  });

  it("is worked around by a tool as well", async () => {
    const data = aFolder();
    const server = await serverIn(data);
    server.kill("SIGKILL");
    await until(() => server.signalCode !== null);
    const tool = await keep(openToolTable({ data }));
    expect(await holds(tool.table, "acknowledged")).toBe(true);
  });

  it("is ended when it is a table process whose watcher was killed too", async () => {
    const data = aFolder();
    const server = await serverIn(data);
    const recorded = tableProcess(data);
    const watchers = execFileSync("pgrep", ["-P", String(recorded.pid)], { encoding: "utf8" })
      .trim()
      .split("\n");
    for (const pid of watchers) process.kill(Number(pid), "SIGKILL");
    server.kill("SIGKILL");
    await until(() => server.signalCode !== null);
    expect(isRunning(recorded)).toBe(true);
    const next = await keep(openServerTable({ data }));
    expect(isRunning(recorded)).toBe(false);
    expect(await holds(next.table, "acknowledged")).toBe(true);
  });

  it("is never a stranger who has the recorded pid", async () => {
    const data = aFolder();
    const stranger = spawn("sleep", ["60"], { stdio: "ignore" });
    const identity = identityOf(stranger.pid ?? 0);
    const recorded = { pid: stranger.pid, started: "another moment" };
    writeFileSync(join(data, "table.json"), JSON.stringify(recorded));
    writeFileSync(join(data, "lock"), JSON.stringify({ ...recorded, role: "server", nonce: "old" }));
    await keep(openServerTable({ data }));
    expect(identity === undefined ? false : isRunning(identity)).toBe(true);
    stranger.kill();
  });

  it.each(["", "not json", "{}", '{"pid":-1}'])("may be a damaged lock: %j", async (content) => {
    const data = aFolder();
    writeFileSync(join(data, "lock"), content);
    writeFileSync(join(data, "table.json"), content);
    writeFileSync(join(data, "endpoint"), content);
    await keep(openServerTable({ data }));
  });
});

describe("a table that cannot start", () => {
  it("says in one line what to set when its program is missing", async () => {
    const opening = openServerTable({ data: aFolder(), env: { DYNOXIDE_BIN: "/nowhere/dynoxide" } });
    await expect(opening).rejects.toThrow(/Cannot run .*\/nowhere\/dynoxide: set DYNOXIDE_BIN .* DYNAMODB_ENDPOINT/u);
  });

  it("gives the data folder free again", async () => {
    const data = aFolder();
    await expect(openServerTable({ data, env: { DYNOXIDE_BIN: "/bin/false" } })).rejects.toThrow(/does not start/u);
    await keep(openServerTable({ data }));
  });
});
