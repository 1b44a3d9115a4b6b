/** The commands on a deployment, as far as no AWS is needed: against a table under the name that a deployment's has. */
import { execFile } from "node:child_process";
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restore, stampOf } from "../../../infra/admin/backups.ts";
import { firstToken } from "../../../infra/admin/first-token.ts";
import { hashToken } from "../../../shared/auth/token-format.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { openTable, type Table } from "../../../shared/table/client.ts";
import { ensureTable, tableDefinition, TTL_ATTRIBUTE } from "../../../shared/table/table-definition.ts";
import { tokenStore } from "../../../shared/table/tokens.ts";
import { startTable, type TestTable } from "../../support/table.ts";

let tables: TestTable;
let deployed: Table;
beforeAll(async () => {
  tables = await startTable();
  deployed = openTable({ name: "mainline-dev", endpoint: tables.endpoint });
  await ensureTable(deployed);
});
afterAll(async () => {
  deployed.client.destroy();
  await tables.stop();
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
/** Without anything of the environment that could lead to an account. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const bare = { PATH: process.env["PATH"], HOME: "/nowhere", AWS_EC2_METADATA_DISABLED: "true" };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`infra/admin/${command}.ts`, ...args],
      { env: { ...bare, ...env } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });
}

describe("before anything is made", () => {
  it.each([["deploy", ["--stage", "dev"], { AWS_REGION: "eu-central-1" }, /^No AWS credentials: set AWS_PROFILE/u]])(
    "npm run %s %j says in one line what is missing",
    async (command, args, env, message) => {
      const { code, stdout, stderr } = await run(command, args, env);
      expect(stderr).toMatch(message);
      expect([code, stdout, stderr.trim().split("\n").length]).toEqual([1, "", 1]);
    },
  );
});

describe("tokens of a deployment", () => {
  const token = (...args: readonly string[]): Promise<Ran> =>
    run("token", args, { DYNAMODB_ENDPOINT: tables.endpoint });

  it("are made, listed, rotated and revoked by the stage's name", async () => {
    const at = ["--org", "acme", "--stage", "dev"];
    const made = await token("create", ...at, "--name", "ci");
    expect(made.code).toBe(0);
    const first = made.stdout.trim();
    const rotated = (await token("rotate", ...at, "--name", "ci")).stdout.trim();
    const store = tokenStore(deployed);
    const revoked = await Promise.all(
      [first, rotated].map(async (text) => (await store.findByHash(hashTokenOf(text)))?.revokedAt === null),
    );
    expect(revoked).toEqual([false, true]);
    expect((await token("list", ...at)).stdout.trim().split("\n")).toHaveLength(2);
  });

  it("a stage that was never deployed is not an empty one", async () => {
    const { code, stderr } = await token("list", "--org", "acme", "--stage", "prod");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^There is no table mainline-prod in local: npm run deploy/u),
    ]);
  });

  it("the first admin token is made once for an organization, and never again", async () => {
    const org = orgSlug("main");
    const made = await firstToken(deployed, org, epochMs(1));
    expect(made).toMatch(/^mlq_/u);
    expect(await firstToken(deployed, org, epochMs(2))).toBeUndefined();
    expect(await tokenStore(deployed).list(org)).toMatchObject([
      { name: "admin", scopes: ["read", "submit", "admin"] },
    ]);
  });
});

const hashTokenOf = (text: string): string => hashToken(text as Parameters<typeof hashToken>[0]);

/** Restores as AWS does: a table of that name with the keys alone. What this table knows, it answers itself. */
function restoring(table: Table, asked: string[]): DynamoDBClient {
  const { client, name } = table;
  const own = { RestoreTableToPointInTimeCommand: true, RestoreTableFromBackupCommand: true };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = context.commandName ?? "";
      asked.push(command);
      if (command === "UpdateContinuousBackupsCommand") return { response: {}, output: { $metadata: {} } };
      if (!(command in own)) return next(args);
      const { StreamSpecification: _stream, ...bare } = tableDefinition(name);
      await client.send(new CreateTableCommand({ ...bare, TableName: `${name}-restored` }));
      return { response: {}, output: { $metadata: {} } };
    },
    { step: "initialize", name: "restores" },
  );
  return client;
}

it("a restored table gets what a backup does not bring: stream, expiry, protection, a record of its own", async () => {
  const asked: string[] = [];
  const own = openTable({ name: "mainline-dev", endpoint: tables.endpoint });
  const client = restoring(own, asked);
  const to = "mainline-dev-restored";
  const stream = await restore(client, { from: "mainline-dev", to, moment: "LATEST" });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: to }));
  expect(stream).toBe(Table?.LatestStreamArn);
  expect(stream).toContain(`:table/${to}/stream/`);
  expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" });
  expect(Table?.DeletionProtectionEnabled).toBe(true);
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: to }));
  expect(TimeToLiveDescription).toMatchObject({ AttributeName: TTL_ATTRIBUTE, TimeToLiveStatus: "ENABLED" });
  expect(asked[0]).toBe("RestoreTableToPointInTimeCommand");
  expect(asked).toContain("UpdateContinuousBackupsCommand");
  client.destroy();
});

it("names that are made of times are names of tables", () => {
  expect(stampOf(new Date("2027-01-31T12:03:04.567Z"))).toBe("20270131-120304");
});
