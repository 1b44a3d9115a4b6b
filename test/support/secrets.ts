/** So much of Secrets Manager as the service uses, over real HTTP: secrets by name or ARN, with a value or without one. */
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";

export type Secrets = {
  readonly endpoint: string;
  /** By name; undefined is a secret without a value. */
  readonly values: Map<string, string | undefined>;
  /** `GetSecretValue mainline-dev-github-app` and so on, as they came. */
  readonly requests: readonly string[];
  readonly stop: () => void;
};

const arnOf = (name: string): string => `arn:aws:secretsmanager:eu-central-1:123456789012:secret:${name}-AbCdEf`;

const asked = z.object({ SecretId: z.string(), SecretString: z.string().optional() });

export async function startSecrets(): Promise<Secrets> {
  const values = new Map<string, string | undefined>();
  const requests: string[] = [];
  const answer = (action: string, { SecretId, SecretString }: z.infer<typeof asked>): object | undefined => {
    const name = [...values.keys()].find((one) => one === SecretId || arnOf(one) === SecretId);
    requests.push(`${action} ${name ?? SecretId}`);
    if (name === undefined) return undefined;
    if (action === "PutSecretValue") values.set(name, SecretString);
    const value = values.get(name);
    if (action === "GetSecretValue") return value === undefined ? undefined : { SecretString: value };
    return { ARN: arnOf(name), Name: name };
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const action = String(request.headers["x-amz-target"]).replace("secretsmanager.", "");
      const isSigned = request.headers.authorization?.startsWith("AWS4-HMAC-SHA256 ") === true;
      // Whoever still asks what had this port before is refused like anybody.
      const read = asked.safeParse(isSigned ? JSON.parse(body) : undefined);
      const given = read.success ? answer(action, read.data) : undefined;
      response.writeHead(given === undefined ? 400 : 200, { "content-type": "application/x-amz-json-1.1" });
      response.end(JSON.stringify(given ?? { __type: "ResourceNotFoundException", Message: "Secrets Manager can't." }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    values,
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
