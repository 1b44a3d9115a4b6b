/** Bundles as Lambda runs them: each in a process of its own, far from any node_modules. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import type { Bundle } from "../../infra/bundle.ts";

/** No function has more. */
const MS_MAX = 900_000;
const RUNNER = new URL("run-bundle.ts", import.meta.url);
const reply = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ answer: z.unknown(), isLate: z.boolean() }),
  z.object({ error: z.string() }),
]);

export type Ran = {
  readonly answer: unknown;
  /** It came when the invocation's time was over. */
  readonly isLate: boolean;
  /** Lines of its log, parsed. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
};

const lineShape = z.record(z.string(), z.unknown());
const linesOf = (out: string) =>
  out
    .split("\n")
    .filter(Boolean)
    .map((line) => lineShape.parse(JSON.parse(line)));

/** The process gets this environment and nothing else. Throws what the handler, or the loading of it, throws. */
export async function runBundle(
  { path, id }: Pick<Bundle, "path" | "id">,
  env: Readonly<Record<string, string>>,
  event: unknown,
  msMax = MS_MAX,
): Promise<Ran> {
  const index = pathToFileURL(join(path, "index.mjs")).href;
  const child = fork(RUNNER, [index, id, String(msMax)], {
    cwd: path,
    env,
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const [out, err] = [text(child.stdout ?? Readable.from([])), text(child.stderr ?? Readable.from([]))];
  const ended = once(child, "exit").then(() => undefined);
  const next = async () => {
    const said = await Promise.race([once(child, "message"), ended]);
    if (said === undefined) throw new Error(`${id} ended: ${await err}`);
    const read = reply.parse(said[0]);
    if ("error" in read) throw new Error(`${id}: ${read.error}`);
    return read;
  };
  try {
    await next();
    child.send({ event });
    const read = await next();
    child.disconnect();
    await ended;
    const { answer, isLate } = "answer" in read ? read : { answer: undefined, isLate: false };
    return { answer, isLate, lines: linesOf((await out) + (await err)) };
  } finally {
    child.kill("SIGKILL");
  }
}
