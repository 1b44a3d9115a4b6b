/** What GitHub tells when it does not do what it was asked. */
import * as z from "zod";
import { type EpochMs, epochMs, later, MINUTE_MS, SECOND_MS } from "../../kernel/time.ts";
import { oneLine } from "../git/names.ts";
import { HostUnavailable } from "../port.ts";

const requestError = z.looseObject({
  status: z.int(),
  message: z.string(),
  response: z.looseObject({
    headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()),
    data: z.unknown(),
  }),
});
export type Told = z.infer<typeof requestError>;

/** Undefined where GitHub did not answer at all. */
export const toldBy = (error: unknown): Told | undefined => requestError.safeParse(error).data;

const body = z.looseObject({
  message: z.string(),
  errors: z.array(z.union([z.string(), z.looseObject({ message: z.string().optional() })])).optional(),
});

/** GitHub's own words, with the details that it puts beside them. Never what was sent: that holds the token. */
export function saidBy({ response, status }: Told): string {
  const said = body.safeParse(response.data).data;
  if (said === undefined) return `status ${status}`;
  const details = (said.errors ?? []).flatMap((one) => (typeof one === "string" ? one : (one.message ?? [])));
  return oneLine([said.message, ...details].join("; "));
}

/** What GitHub asks for where it does not say how long. */
const WAIT_MS = MINUTE_MS;
/** Said of a bare limit, when no header tells of it: GitHub writes it into the message. */
const LIMIT = /rate limit|abuse detection/iu;

/** Until when nothing more is to be asked; undefined where the answer is about something else. */
export function waitOf(told: Told, now: EpochMs): EpochMs | undefined {
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

export function unavailable(error: unknown): HostUnavailable {
  if (error instanceof HostUnavailable) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new HostUnavailable(`GitHub does not answer: ${oneLine(what)}`, { cause: error });
}
