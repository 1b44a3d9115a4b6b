/** Requests as they are given: names of headers keep their case, and the path its slashes and percent signs. */
import { type ClientRequest, request as plain } from "node:http";
import { request as secure } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The text as JSON; undefined where it is none. */
  readonly json: unknown;
};

export type Sent = {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

const PATIENCE_MS = 60_000;
const BUSY = new Set([429, 503]);
const ATTEMPTS_MAX = 4;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As curl does: whoever is not asked for the body within a second sends it all the same. */
function sendWhenAsked(asking: ClientRequest, bytes: Buffer): void {
  const go = (): void => {
    clearTimeout(late);
    if (!asking.writableEnded) asking.end(bytes);
  };
  const late = setTimeout(go, 1_000);
  asking.flushHeaders();
  asking.on("continue", go);
}

function once(address: string, { method = "POST", headers = {}, body = "" }: Sent): Promise<Reply> {
  const bytes = Buffer.from(body);
  const { protocol, hostname, port, username } = new URL(address);
  const path = address.replace(/^https?:\/\/[^/]+/iu, "");
  const request = protocol === "https:" ? secure : plain;
  if (username !== "") throw new Error("an address without a user name is needed");
  return new Promise((resolve, reject) => {
    const length = method === "GET" ? {} : { "content-length": String(bytes.length) };
    // A connection of its own: one that was kept may have been closed while a body was made.
    const options = {
      agent: false,
      hostname,
      port,
      path,
      method,
      headers: { ...length, ...headers },
      timeout: PATIENCE_MS,
    };
    const asking = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const found = Object.entries(response.headersDistinct).map(([name, all]) => [name, all?.join(",")]);
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(found), text, json: parsed(text) });
      });
    });
    asking.on("timeout", () => asking.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} seconds`)));
    asking.on("error", reject);
    if (headers["Expect"] === undefined) asking.end(bytes);
    else sendWhenAsked(asking, bytes);
  });
}

/** What says "try again" is tried again a few times: a throttle is no finding. */
export async function send(address: string, sent: Sent): Promise<Reply> {
  for (let attempt = 1; ; attempt += 1) {
    const reply = await once(address, sent);
    if (!BUSY.has(reply.status) || attempt === ATTEMPTS_MAX) return reply;
    await sleep(1000 * Number(reply.headers["retry-after"] ?? attempt));
  }
}
