/**
 * Calls GitHub as an App's installation. One client for one App; it caches tokens and what GitHub said of waiting.
 * An answer that the caller may know the meaning of is thrown as `Answered`, all else as HostUnavailable.
 */
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import * as z from "zod";
import { type Clock, epochMs, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import { HostUnavailable } from "../port.ts";
import { createTokens, withToken } from "./access.ts";
import { costOf } from "./budget.ts";
import { createAnswers, isLasting } from "./known.ts";
import type { Budgets } from "./port.ts";
import { asTold, createSpending, type Spending } from "./spending.ts";
import { saidBy, toldBy, unavailable, waitOf } from "./told.ts";

export type GitHubApp = {
  readonly appId: number;
  /** PEM, PKCS#1 as GitHub hands it out, or PKCS#8. */
  readonly privateKey: string;
  /** The base address of the REST API, `https://api.github.com` or `https://<server>/api/v3`. */
  readonly api: string;
  /** Called when GitHub does not take these credentials. */
  readonly refused?: (() => void) | undefined;
};

/** Typed by route: `ask("GET /repos/{owner}/{repo}", { owner, repo })`. */
export type Ask = Octokit["request"];

export type GitHubClient = {
  readonly appId: number;
  readonly as: (installation: number) => Ask;
  /** The same, for calls that people can do without: refused (NotNow) before they take what the queue needs. */
  readonly spare: (installation: number) => Ask;
  /** The installation that reaches a repository, whatever it is called now; undefined where none does. */
  readonly installationOn: (repository: number) => Promise<InstallationOn | undefined>;
};

export type InstallationOn = {
  readonly id: number;
  /** The account's login in lower case. */
  readonly account: string;
};

const installed = z.object({ id: z.int(), account: z.object({ login: z.string().toLowerCase() }) });

/** GitHub answered, and what it answered is no success. Verbs know what it means; elsewhere it is an outage. */
export class Answered extends Error {
  override readonly name = "Answered";
  readonly status: number;
  readonly said: string;
  constructor(status: number, said: string) {
    super(`GitHub answered ${status}: ${said}`);
    this.status = status;
    this.said = said;
  }
}

const ASK_MS_MAX = 15 * SECOND_MS;

const NOT_MODIFIED = 304;

export function createClient(
  { appId, privateKey, api, refused }: GitHubApp,
  clock: Clock,
  budgets?: Budgets,
): GitHubClient {
  const baseUrl = api.replace(/\/+$/u, "");
  const plain = { baseUrl, userAgent: "mainline", request: { fetch: inTime } };
  const bare = new Octokit(plain);
  const auth = createAppAuth({ appId, privateKey, request: bare.request });
  const tokens = createTokens(async (installationId) => {
    const { token, expiresAt } = await auth({ type: "installation", installationId, refresh: true });
    return { token, endsAt: epochMs(Date.parse(expiresAt)) };
  }, clock);
  const clients = new Map<number, Ask>();
  const make = (installation: number): Ask => {
    const octokit = new Octokit(plain);
    const spending = budgets === undefined ? asTold(clock) : createSpending(budgets(installation), clock);
    const answers = createAnswers<Awaited<ReturnType<typeof octokit.request>>>();
    octokit.hook.wrap("request", async (request, options) => {
      const url = options.method === "GET" ? octokit.request.endpoint.parse(options).url : undefined;
      const known = url === undefined ? undefined : answers.of(url);
      if (url !== undefined && known !== undefined && isLasting(url)) return known.answer;
      await spending.spend(costOf(options.method, options.url), isSpare.parse(options.request?.["spare"]));
      const mark = known?.etag === undefined ? {} : { "if-none-match": known.etag };
      try {
        const answer = await withToken(tokens, installation, async (token) =>
          request({ ...options, headers: { ...options.headers, ...mark, authorization: `token ${token}` } }),
        );
        hear(spending, answer.headers);
        if (url !== undefined) answers.keep(url, { etag: answer.headers.etag, answer });
        return answer;
      } catch (error) {
        const told = toldBy(error);
        if (told === undefined) throw unavailable(error);
        hear(spending, told.response.headers);
        if (told.status === NOT_MODIFIED && known !== undefined) return known.answer;
        if (told.status === 401) refused?.();
        const wait = waitOf(told, clock());
        if (wait === undefined) throw new Answered(told.status, saidBy(told));
        await spending.wait(wait);
        throw new HostUnavailable(`GitHub limits our requests and asks us to wait until ${toRfc3339(wait)}`);
      }
    });
    return octokit.request;
  };
  const installationOn = async (repository: number): Promise<InstallationOn | undefined> => {
    try {
      const headers = { authorization: `bearer ${(await auth({ type: "app" })).token}` };
      const { data } = await bare.request(`GET /repositories/${repository}/installation`, { headers });
      const { id, account } = installed.parse(data);
      return { id, account: account.login };
    } catch (error) {
      const told = toldBy(error);
      if (told?.status === 404) return undefined;
      throw told === undefined ? unavailable(error) : new Answered(told.status, saidBy(told));
    }
  };
  const client: GitHubClient = {
    appId,
    installationOn,
    as: (installation) => {
      const ask = clients.get(installation) ?? make(installation);
      clients.set(installation, ask);
      return ask;
    },
    spare: (installation) => client.as(installation).defaults({ request: { spare: true } }),
  };
  return client;
}

const isSpare = z.boolean().default(false);

/** What GitHub says in each answer of what may be asked within the hour. */
function hear(spending: Spending, headers: Readonly<Record<string, unknown>>): void {
  const read = left.safeParse(headers).data;
  if (read !== undefined) spending.told({ remaining: read[REMAINING], limit: read[LIMIT], resetAt: read[RESET] });
}

const [REMAINING, LIMIT, RESET] = ["x-ratelimit-remaining", "x-ratelimit-limit", "x-ratelimit-reset"] as const;
const left = z.object({
  [REMAINING]: z.coerce.number(),
  [LIMIT]: z.coerce.number(),
  [RESET]: z.coerce.number().transform((seconds) => epochMs(seconds * SECOND_MS)),
});

/** A call that hangs is given up; whether it did its work is for the caller to find out. */
const inTime: typeof fetch = async (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ASK_MS_MAX) });
