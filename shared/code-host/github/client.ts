/**
 * Calls GitHub as an App's installation. One client for one App; it caches tokens and what GitHub said of waiting.
 * An answer that the caller may know the meaning of is thrown as `Answered`, all else as HostUnavailable.
 */
import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import * as z from "zod";
import { type Clock, type EpochMs, epochMs, later, MINUTE_MS, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import { HostUnavailable } from "../port.ts";
import { oneLine } from "../git/names.ts";
import { createAnswers, isLasting } from "./known.ts";

export type GitHubApp = {
  readonly appId: number;
  /** PEM, PKCS#1 as GitHub hands it out, or PKCS#8. */
  readonly privateKey: string;
  /** The base address of the REST API, `https://api.github.com` or `https://<server>/api/v3`. */
  readonly api: string;
};

/** Typed by route: `ask("GET /repos/{owner}/{repo}", { owner, repo })`. */
export type Ask = Octokit["request"];

export type GitHubClient = {
  readonly appId: number;
  readonly as: (installation: number) => Ask;
};

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
const TOKEN_SPARE_MS = 5 * MINUTE_MS;
/** What GitHub asks for where it does not say how long. */
const WAIT_MS = MINUTE_MS;

const NOT_MODIFIED = 304;

/** Said of a bare limit, when no header tells of it: GitHub writes it into the message. */
const LIMIT = /rate limit|abuse detection/iu;

export function createClient({ appId, privateKey, api }: GitHubApp, clock: Clock): GitHubClient {
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
    let waitsUntil = epochMs(0);
    const answers = createAnswers<Awaited<ReturnType<typeof octokit.request>>>();
    octokit.hook.wrap("request", async (request, options) => {
      if (clock() < waitsUntil) throw new HostUnavailable(`GitHub asked us to wait until ${toRfc3339(waitsUntil)}`);
      const url = options.method === "GET" ? octokit.request.endpoint.parse(options).url : undefined;
      const known = url === undefined ? undefined : answers.of(url);
      if (url !== undefined && known !== undefined && isLasting(url)) return known.answer;
      const mark = known?.etag === undefined ? {} : { "if-none-match": known.etag };
      try {
        const answer = await withToken(tokens, installation, async (token) =>
          request({ ...options, headers: { ...options.headers, ...mark, authorization: `token ${token}` } }),
        );
        if (url !== undefined) answers.keep(url, { etag: answer.headers.etag, answer });
        return answer;
      } catch (error) {
        const told = read(error);
        if (told?.status === NOT_MODIFIED && known !== undefined) return known.answer;
        if (told === undefined) throw unavailable(error);
        const wait = waitOf(told, clock());
        if (wait === undefined) throw new Answered(told.status, saidBy(told));
        waitsUntil = wait;
        throw new HostUnavailable(`GitHub limits our requests and asks us to wait until ${toRfc3339(wait)}`);
      }
    });
    return octokit.request;
  };
  return {
    appId,
    as: (installation) => {
      const ask = clients.get(installation) ?? make(installation);
      clients.set(installation, ask);
      return ask;
    },
  };
}

/** A call that hangs is given up; whether it did its work is for the caller to find out. */
const inTime: typeof fetch = async (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ASK_MS_MAX) });

type Token = { readonly token: string; readonly endsAt: EpochMs };
type Tokens = {
  readonly of: (installation: number) => Promise<string>;
  readonly forget: (installation: number) => void;
};

/** A token's shape is GitHub's affair. One that is being made is waited for by all. */
function createTokens(make: (installation: number) => Promise<Token>, clock: Clock): Tokens {
  const kept = new Map<number, Promise<Token>>();
  const fresh = async (installation: number): Promise<string> => {
    const making = make(installation);
    kept.set(installation, making);
    making.catch(() => kept.delete(installation));
    return (await making).token;
  };
  return {
    of: async (installation) => {
      const known = await kept.get(installation);
      if (known !== undefined && clock() < later(known.endsAt, -TOKEN_SPARE_MS)) return known.token;
      return fresh(installation);
    },
    forget: (installation) => void kept.delete(installation),
  };
}

/** A token may be revoked before its end: the next one shows whether the rights are gone, too. */
async function withToken<T>(tokens: Tokens, installation: number, work: (token: string) => Promise<T>): Promise<T> {
  try {
    return await work(await tokens.of(installation));
  } catch (error) {
    if (read(error)?.status !== 401) throw error;
    tokens.forget(installation);
    return work(await tokens.of(installation));
  }
}

const requestError = z.looseObject({
  status: z.int(),
  message: z.string(),
  response: z.looseObject({
    headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()),
    data: z.unknown(),
  }),
});
type Told = z.infer<typeof requestError>;

const read = (error: unknown): Told | undefined => requestError.safeParse(error).data;

const body = z.looseObject({
  message: z.string(),
  errors: z.array(z.union([z.string(), z.looseObject({ message: z.string().optional() })])).optional(),
});

/** GitHub's own words, with the details that it puts beside them. Never what was sent: that holds the token. */
function saidBy({ response, status }: Told): string {
  const said = body.safeParse(response.data).data;
  if (said === undefined) return `status ${status}`;
  const details = (said.errors ?? []).flatMap((one) => (typeof one === "string" ? one : (one.message ?? [])));
  return oneLine([said.message, ...details].join("; "));
}

/** Until when nothing more is to be asked; undefined where the answer is about something else. */
function waitOf(told: Told, now: EpochMs): EpochMs | undefined {
  const { headers } = told.response;
  const isLimit =
    told.status === 429 || (told.status === 403 && (LIMIT.test(saidBy(told)) || "retry-after" in headers));
  if (!isLimit) return undefined;
  const seconds = Number(headers["retry-after"]);
  if (Number.isFinite(seconds) && headers["retry-after"] !== undefined) return later(now, seconds * SECOND_MS);
  const reset = Number(headers["x-ratelimit-reset"]);
  if (headers["x-ratelimit-remaining"] === "0" && Number.isFinite(reset)) return epochMs(reset * SECOND_MS);
  return later(now, WAIT_MS);
}

function unavailable(error: unknown): HostUnavailable {
  if (error instanceof HostUnavailable) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new HostUnavailable(`GitHub does not answer: ${oneLine(what)}`, { cause: error });
}
