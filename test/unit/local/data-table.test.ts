import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it } from "vitest";
import { type DataTable, openServerTable, openToolTable } from "../../../infra/local/data-table.ts";
import { identityOf, isRunning } from "../../../infra/local/process-identity.ts";
import { Unavailable } from "../../../shared/kernel/unavailable.ts";
import type { Table } from "../../../shared/table/client.ts";
import { eventually } from "../../support/eventually.ts";

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
/** The table itself, inside of what is recorded. */
const innerPid = (data: string): number | undefined => {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name)))
    try {
      const [program = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const isOnData = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(join(data, "table.db"));
      if (isOnData && program.endsWith("dynoxide")) return Number(pid);
    } catch {
      // It has ended.
    }
  return undefined;
};
const until = async (condition: () => boolean): Promise<void> => {
  await eventually(condition, Boolean);
};

const networkOf = (pid: number | "self"): string => readlinkSync(`/proc/${pid}/ns/net`);

/** A server in a process of its own that opens the table, writes one item, and says so. */
async function serverIn(data: string, namespace = "undefined") {
  const program = `
    import { openServerTable } from ${JSON.stringify(join(process.cwd(), "infra/local/data-table.ts"))};
    import { PutCommand } from "@aws-sdk/lib-dynamodb";
    const { table } = await openServerTable({ data: ${JSON.stringify(data)}, namespace: ${namespace} });
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
        const isTaken = await write(table, `w${at}`).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Unavailable) return false;
            throw error;
          },
        );
        if (isTaken) acknowledged.push(`w${at}`);
      }
    })();
    const goesOn = (): Promise<void> => {
      const before = acknowledged.length;
      return until(() => acknowledged.length >= before + 10);
    };
    for (let kill = 0; kill < 3; kill += 1) {
      await goesOn();
      const before = innerPid(data) ?? 0;
      process.kill(before, "SIGKILL");
      await until(() => ![undefined, before].includes(innerPid(data)));
    }
    await goesOn();
    done.abort();
    await writing;
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
    const tools = tableProcess(data);
    await close(tool);
    await starting;
    expect(tableProcess(data)).not.toEqual(tools);
  });

  it("tells nobody but its owner where it is", async () => {
    const data = aFolder();
    await keep(openServerTable({ data }));
    for (const name of ["endpoint", "table.db", "table.sock"])
      expect([name, statSync(join(data, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it("is made its owner's alone where an earlier version, or somebody's umask, had left it readable", async () => {
    const data = aFolder();
    await close(await keep(openServerTable({ data })));
    chmodSync(join(data, "table.db"), 0o644);
    await keep(openServerTable({ data }));
    expect(statSync(join(data, "table.db")).mode & 0o777).toBe(0o600);
  });

  it("has no door but its socket: it listens in a network of its own", async () => {
    const data = aFolder();
    const { endpoint, isOpen } = await keep(openServerTable({ data }));
    expect([endpoint, isOpen]).toEqual([`unix:${join(data, "table.sock")}`, false]);
    expect(networkOf(innerPid(data) ?? 0)).not.toBe(networkOf("self"));
  });

  it("says that it is open where this machine has no namespaces", async () => {
    const data = aFolder();
    const { endpoint, isOpen } = await keep(openServerTable({ data, namespace: async () => undefined }));
    expect([endpoint, isOpen]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/u), true]);
    expect(statSync(join(data, "table.db")).mode & 0o777).toBe(0o600);
  });

  it("is named whole, so that a tool in another folder finds it", async () => {
    const data = aFolder();
    const { endpoint } = await keep(openServerTable({ data: relative(process.cwd(), data) }));
    expect(endpoint).toBe(`unix:${join(data, "table.sock")}`);
  });

  it("is reached in a folder whose path is too long for a socket", async () => {
    const data = join(aFolder(), "a".repeat(60), "b".repeat(60));
    const server = await keep(openServerTable({ data }));
    await write(server.table, "deep");
    const guest = await keep(openToolTable({ data }));
    expect(await holds(guest.table, "deep")).toBe(true);
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

  it("is nothing of a table in a namespace, even when everything else of it is killed, too", async () => {
    const data = aFolder();
    const server = await serverIn(data);
    const inner = identityOf(innerPid(data) ?? 0);
    if (inner === undefined) throw new Error("no table runs");
    for (const pid of [tableProcess(data).pid, server.pid ?? 0]) process.kill(pid, "SIGKILL");
    await until(() => !isRunning(inner));
  });

  it("is ended when it is a table process whose watcher was killed too", async () => {
    const data = aFolder();
    const server = await serverIn(data, "async () => undefined");
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
    const stranger = spawn("sleep", ["6000"], { stdio: "ignore" });
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
