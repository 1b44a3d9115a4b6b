/** HTTP over one kept connection, with as little of its own as Node allows: what is measured is the server. */
import { Agent, request } from "node:http";

export type Reply = { readonly status: number; readonly body: Buffer };
export type Sent = {
  readonly method?: "GET" | "POST";
  readonly body?: Buffer;
  readonly headers?: Record<string, string>;
};

export type Client = {
  readonly send: (path: string, sent?: Sent) => Promise<Reply>;
  /** POSTs JSON, and throws at everything but 200. */
  readonly post: (path: string, fields: unknown) => Promise<Reply>;
  readonly close: () => void;
};

export function keptConnection(base: string, token: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = new URL(base);
  const at = { host: url.hostname, port: url.port, agent };

  const send = (path: string, { method = "POST", body, headers }: Sent = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const asking = request(
        { ...at, path: `${url.pathname}${path}`, method, headers: { "x-api-token": token, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
        },
      );
      asking.on("error", reject);
      asking.end(body);
    });

  const post = async (path: string, fields: unknown): Promise<Reply> => {
    const body = Buffer.from(JSON.stringify(fields));
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    return succeeded(path, await send(path, { body, headers }));
  };
  return { send, post, close: () => agent.destroy() };
}

export function succeeded(path: string, reply: Reply): Reply {
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${reply.body.toString().slice(0, 500)}`);
  return reply;
}
