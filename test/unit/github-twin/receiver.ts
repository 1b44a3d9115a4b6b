/** Somebody's webhook address, which keeps what it gets. Holds no assertions. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Body } from "./client.ts";

export type Hook = {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly payload: Body;
  /** `event.action`, as both are named. */
  readonly name: string;
};

export type Receiver = {
  readonly url: string;
  readonly hooks: Hook[];
  status: number;
  readonly stop: () => void;
};

export async function aReceiver(): Promise<Receiver> {
  const hooks: Hook[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks).toString();
    const payload: Body = JSON.parse(raw);
    const event = String(request.headers["x-github-event"]);
    const name = payload.action === undefined ? event : `${event}.${payload.action}`;
    hooks.push({ headers: request.headers, raw, payload, name });
    response.writeHead(receiver.status).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    hooks,
    status: 202,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
