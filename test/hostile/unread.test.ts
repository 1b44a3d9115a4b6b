/** Nobody unknown makes us receive, inflate or parse more than a little: the answer comes while the body is unsent. */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OnGitHub, onGitHub } from "../support/github-service.ts";
import { aService, type Service } from "../support/service.ts";

const MIB = 1024 * 1024;

/** Sends the head of a request that announces a body of this size, and only the beginning of it; answers the status. */
function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  announced: number,
  sent: Buffer,
): Promise<number> {
  const { hostname, port, pathname, search } = new URL(url);
  const all = { host: hostname, "content-length": String(announced), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST ${pathname}${search} HTTP/1.1\r\n${head.join("")}\r\n`);
      socket.write(sent);
    });
    socket.once("data", (answer: Buffer) => {
      resolve(Number(/^HTTP\/1\.1 (\d{3})/u.exec(answer.toString())?.[1] ?? 0));
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

const JSON_TYPE = { "content-type": "application/json" };
const FORK = { ...JSON_TYPE, "x-forked-workflow-run-id": "7" };
const bomb = gzipSync(`[${"0,".repeat(10 * MIB)}0]`);

describe("where no GitHub App is connected", () => {
  let service: Service;
  beforeAll(async () => {
    service = await aService();
  });
  afterAll(() => service.stop());

  it("a fork is refused before anything of its body has come", async () => {
    const url = `${service.server().url}/setImpactedTargets`;
    expect(await statusOf(url, FORK, 20 * MIB, Buffer.alloc(0))).toBe(401);
  });

  it("a form is refused by its signature, size and time before anything of its body has come", async () => {
    const url = `${service.server().url.replace("/v1", "")}/uploads/unknown`;
    const type = { "content-type": "multipart/form-data; boundary=x" };
    expect(
      await statusOf(`${url}?max-bytes=9&expires=9999999999999&signature=x`, type, 20 * MIB, Buffer.alloc(0)),
    ).toBe(403);
    expect(await statusOf(url, type, 20 * MIB, Buffer.alloc(0))).toBe(403);
  });

  it("a wrong token is refused before anything of its body has come", async () => {
    const url = `${service.server().url}/getQueue`;
    expect(await statusOf(url, { ...JSON_TYPE, "x-api-token": "mlq_wrong" }, 20 * MIB, Buffer.alloc(0))).toBe(401);
  });
});

describe("a fork's workflow", () => {
  let on: OnGitHub;
  beforeAll(async () => {
    on = await onGitHub({ ci: null });
  });
  afterAll(() => on.stop());
  const url = (): string => `${on.service.server().url}/setImpactedTargets`;

  it("may bring 64 KiB, and is told so while the rest is unsent", async () => {
    expect(await statusOf(url(), FORK, 20 * MIB, Buffer.alloc(64 * 1024 + 1, "["))).toBe(413);
  });

  it("may bring 1 MiB when decoded: more is not even inflated", async () => {
    expect(bomb.length).toBeLessThan(64 * 1024);
    const headers = { ...FORK, "content-encoding": "gzip" };
    const answer = await fetch(url(), { method: "POST", headers, body: Uint8Array.from(bomb) });
    expect(answer.status).toBe(413);
    expect(await answer.text()).toContain('send \\"ALL\\"');
  });
});
