/** GitHub's twin in a process of its own, spoken to by lines of JSON: `test/support/github/serve.ts` says how. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import * as z from "zod";

const begun = z.object({
  url: z.string(),
  app: z.object({ appId: z.int(), slug: z.string(), privateKey: z.string(), webhookSecret: z.string() }),
});
const answer = z.object({ id: z.int(), answer: z.unknown(), error: z.string().optional() });
const told = z.object({
  pushed: z.object({ repository: z.string(), branch: z.string(), sha: z.string() }).optional(),
  rerun: z.object({ repository: z.string(), sha: z.string(), names: z.array(z.string()) }).optional(),
  cancelled: z.object({ repository: z.string(), sha: z.string() }).optional(),
});
export type Told = z.output<typeof told>;

export type Twin = z.output<typeof begun> & {
  /** One of the twin's verbs, with its arguments. */
  readonly ask: <T>(shape: z.ZodType<T>, verb: string, ...given: readonly unknown[]) => Promise<T>;
  /** It ends, and says whether all that it answered and sent had the shapes that GitHub publishes. */
  readonly stop: () => Promise<boolean>;
};

type Waiting = { readonly resolve: (answer: unknown) => void; readonly reject: (error: Error) => void };

const SERVE = new URL("../../../test/support/github/serve.ts", import.meta.url).pathname;

export async function startTwin(folder: string, news: (told: Told) => void): Promise<Twin> {
  const child = spawn(process.execPath, [SERVE, folder], { stdio: ["pipe", "pipe", "ignore"], detached: true });
  const ended = once(child, "close");
  const waiting = new Map<number, Waiting>();
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), ended]);
  const { url, app } = begun.parse(JSON.parse(String(first[0])));
  lines.on("line", (line) => {
    const said: unknown = JSON.parse(line);
    const answered = answer.safeParse(said).data;
    if (answered === undefined) return news(told.parse(said));
    const asker = waiting.get(answered.id);
    waiting.delete(answered.id);
    if (answered.error === undefined) asker?.resolve(answered.answer);
    else asker?.reject(new Error(`the twin: ${answered.error}`));
  });
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error("GitHub's twin has ended"));
  });
  let last = 0;
  return {
    url,
    app,
    ask: async (shape, verb, ...given) => {
      last += 1;
      const id = last;
      const came = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      child.stdin.write(`${JSON.stringify({ id, call: verb, with: given })}\n`);
      return shape.parse(await came);
    },
    stop: async () => {
      child.stdin.end();
      await ended;
      return child.exitCode === 0;
    },
  };
}
