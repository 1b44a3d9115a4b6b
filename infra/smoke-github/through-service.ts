/** One pull request through a service that runs: a queue, a submission, and the end of it. */
import * as z from "zod";
import { MINUTE_MS, SECOND_MS } from "../../shared/kernel/time.ts";
import { told } from "../smoke/check.ts";
import { type Reply, send } from "../smoke/http.ts";
import type { GitHubSmoke } from "./arguments.ts";
import { CHECK, type Scratch } from "./scratch.ts";
import { expect, type Steps, until } from "./steps.ts";

const submitted = z.object({ state: z.string(), conclusion: z.object({ message: z.string() }).nullable() });
const explained = z.object({ summary: z.string(), blockers: z.array(z.object({ message: z.string() })) });
const OVER = new Set(["MERGED", "FAILED", "CANCELLED"]);

export async function throughService(
  { host, owner, name, waitMinutes }: GitHubSmoke,
  { url, token }: NonNullable<GitHubSmoke["service"]>,
  scratch: Scratch,
  steps: Steps,
): Promise<void> {
  const at = { repo: { host, owner, name }, targetBranch: scratch.base };
  const ask = (path: string, fields: object = {}): Promise<Reply> =>
    send(`${url}${path}`, {
      headers: { "content-type": "application/json", "x-api-token": token },
      body: JSON.stringify({ ...at, ...fields }),
    });
  const must = async (path: string, fields: object = {}): Promise<Reply> => {
    const reply = await ask(path, fields);
    expect(reply.status === 200, `${path}: ${told(reply)}`);
    return reply;
  };
  await steps.step(
    { name: "the service takes a queue", otherwise: "see whether the address and the token are of this service." },
    async () => {
      await must("/createQueue", { requiredStatuses: [CHECK], mode: "single", batch: false });
      return [`for ${scratch.base}, at ${url}`, undefined];
    },
  );
  try {
    await merged();
  } finally {
    await steps.tidy({ name: "the queue is deleted", otherwise: `/deleteQueue for ${scratch.base}.` }, async () => {
      await until(
        () => ask("/deleteQueue"),
        ({ status }) => status === 200,
        { ms: MINUTE_MS, everyMs: SECOND_MS, what: "it stays" },
      );
      return scratch.base;
    });
  }

  function merged(): Promise<void> {
    const otherwise =
      "look at what it waits for; the App must be linked to the token's organization: npm run github-app -- link.";
    return steps.step({ name: "a pull request is merged by the service", otherwise }, async () => {
      const { number } = await scratch.open();
      const pr = { number };
      await must("/submitPullRequest", { pr });
      const read = async () => submitted.parse((await must("/getSubmittedPullRequest", { pr })).json);
      try {
        const how = { ms: waitMinutes * MINUTE_MS, everyMs: 2 * SECOND_MS, what: `#${number} has no end` };
        const { state, conclusion } = await until(read, (found) => OVER.has(found.state), how);
        expect(state === "MERGED", `#${number} is ${state}: ${conclusion?.message ?? "no reason given"}`);
      } catch (error) {
        const why = explained.safeParse((await ask("/explainPullRequest", { pr })).json).data;
        await ask("/cancelPullRequest", { pr });
        const says = [why?.summary, ...(why?.blockers ?? []).map(({ message }) => message)].filter(Boolean).join(" ");
        throw new Error(`${error instanceof Error ? error.message : String(error)} It says: ${says}`, { cause: error });
      }
      return [`#${number} is MERGED`, undefined];
    });
  }
}
