import { createServer, type IncomingMessage } from "node:http";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import { eventBridgeScheduler } from "../../../shared/scheduler/event-bridge.ts";
import { ScheduleRefused, type Waking } from "../../../shared/scheduler/port.ts";

/** What reached the service, and what it answers: every request of a method alike. */
type Sent = { readonly method: string; readonly path: string; readonly body: Record<string, unknown> };
const sent: Sent[] = [];
const refusals = new Map<string, readonly [number, string]>();

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : JSON.parse(text);
}

const server = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    const method = request.method ?? "";
    sent.push({ method, path: request.url ?? "", body });
    const [status, type] = refusals.get(method) ?? [200, ""];
    response.writeHead(status, { "content-type": "application/json", "x-amzn-errortype": type });
    response.end(JSON.stringify(status === 200 ? { ScheduleArn: "arn" } : { Message: "refused", message: "refused" }));
  });
});
let client: SchedulerClient;
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  client = new SchedulerClient({ endpoint: `http://127.0.0.1:${port}`, region: "local", credentials, maxAttempts: 1 });
});
afterEach(() => {
  sent.length = 0;
  refusals.clear();
});
afterAll(() => {
  client.destroy();
  server.close();
});

const OF = {
  group: "mainline-dev",
  functionArn: "arn:aws:lambda:eu-central-1:111122223333:function:mainline-dev-maintenance-window",
  roleArn: "arn:aws:iam::111122223333:role/mainline-dev-scheduler",
  deadLettersArn: "arn:aws:sqs:eu-central-1:111122223333:mainline-dev-windows",
};
const waking = (when: Waking["when"]): Waking => ({
  name: "w1-start",
  windowId: "w1",
  key: { org: orgSlug("acme"), repo: { host: "git.local", owner: "acme", name: "app" }, branch: "main" },
  when,
});
const at = waking({ kind: "AT", at: epochMs(Date.parse("2026-12-24T17:59:59.001Z")) });
const scheduler = () => eventBridgeScheduler(OF, client);

describe("a schedule on EventBridge", () => {
  it("calls the function with the window and its queue, once, and is cleared away afterwards", async () => {
    await scheduler().put(at);
    const [made, ...others] = sent;
    expect(others).toEqual([]);
    expect([made?.method, made?.path]).toEqual(["POST", "/schedules/w1-start"]);
    expect(made?.body).toMatchObject({
      GroupName: "mainline-dev",
      ScheduleExpression: "at(2026-12-24T18:00:00)",
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: { Arn: OF.functionArn, RoleArn: OF.roleArn, DeadLetterConfig: { Arn: OF.deadLettersArn } },
    });
    const { Target } = made?.body ?? {};
    const { Input } = Target as { Input: string };
    expect(JSON.parse(Input)).toEqual({
      windowId: "w1",
      queue: { org: "acme", repo: { host: "git.local", owner: "acme", name: "app" }, branch: "main" },
    });
  });

  it("of a window that recurs goes by the clocks of its time zone", async () => {
    await scheduler().put(waking({ kind: "CRON", cron: "0 22 ? * FRI *", timeZone: "Europe/Berlin" }));
    expect(sent[0]?.body).toMatchObject({
      ScheduleExpression: "cron(0 22 ? * FRI *)",
      ScheduleExpressionTimezone: "Europe/Berlin",
    });
  });

  it("that is there already is made what it should be", async () => {
    refusals.set("POST", [409, "ConflictException"]);
    await scheduler().put(at);
    expect(sent.map(({ method }) => method)).toEqual(["POST", "PUT"]);
    expect(sent[1]?.body).toMatchObject({ ScheduleExpression: "at(2026-12-24T18:00:00)", GroupName: "mainline-dev" });
  });

  it("is removed by its name; that it is not there is as good", async () => {
    await scheduler().remove("w1-start");
    expect([sent[0]?.method, sent[0]?.path.split("?")[0]]).toEqual(["DELETE", "/schedules/w1-start"]);
    expect(sent[0]?.path).toContain("groupName=mainline-dev");
    refusals.set("DELETE", [404, "ResourceNotFoundException"]);
    await scheduler().remove("w1-start");
  });

  it("that it will never take is refused", async () => {
    refusals.set("POST", [400, "ValidationException"]);
    await expect(scheduler().put(at)).rejects.toThrow(ScheduleRefused);
  });

  it("that cannot be made or removed is an error", async () => {
    refusals.set("POST", [429, "ThrottlingException"]).set("DELETE", [500, "InternalServerException"]);
    await expect(scheduler().put(at)).rejects.toThrow("refused");
    await expect(scheduler().remove("w1-start")).rejects.toThrow("refused");
  });
});
