/** Calls that outlive the server: an answer, or the knowledge that it was lost. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { callApi } from "../support/server.ts";
import type { Ledger } from "./ledger.ts";
import type { Site } from "./site.ts";

export const pullRequest = z.object({
  id: z.string(),
  state: z.string(),
  prNumber: z.number(),
  skipTheLine: z.boolean(),
  prSha: z.string().nullable(),
  verifiedByTestRun: z.string().nullable(),
  isCurrentlySubmittedToQueue: z.boolean(),
});
export type PullRequest = z.infer<typeof pullRequest>;

const fault = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Answer = { readonly status: number; readonly code: string; readonly body: unknown };

export type Api = {
  /** One attempt. Undefined when the answer was lost. */
  readonly once: (path: string, body: object) => Promise<Answer | undefined>;
  /** As a careful client does it: the same request with the same key, until there is an answer. */
  readonly sure: (path: string, body: object) => Promise<Answer>;
};

const ANSWER_MS_MAX = 20_000;
const SURE_MS_MAX = 90_000;

/** `ours`: which token, and which queue. */
export function anApi(site: Site, ledger: Ledger, token: () => string, queue: object): Api {
  const attempt = async (path: string, body: object, key: string | undefined): Promise<Answer | undefined> => {
    const url = await site.ready();
    try {
      const headers = { "content-type": "application/json", "x-api-token": token() };
      const called = await callApi(url, token(), path, undefined, {
        headers: key === undefined ? headers : { ...headers, "idempotency-key": key },
        body: JSON.stringify({ ...queue, ...body }),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      const code = fault.safeParse(called.body).data?.error.code ?? "";
      ledger.answered(path, called.status, code, called.body);
      return { status: called.status, code, body: called.body };
    } catch {
      ledger.lost(path);
      return undefined;
    }
  };

  const sure = async (path: string, body: object): Promise<Answer> => {
    const key = randomUUID();
    for (const until = performance.now() + SURE_MS_MAX; ; await sleep(150)) {
      const answer = await attempt(path, body, key);
      const again = answer === undefined || answer.status === 503 || answer.code === "IDEMPOTENCY_IN_PROGRESS";
      if (!again) return answer;
      if (performance.now() > until)
        throw new Error(`${path} was not answered for ${SURE_MS_MAX} ms: ${answer?.code ?? "lost"}`);
    }
  };
  return { once: (path, body) => attempt(path, body, undefined), sure };
}
