/** What a check is, and how its outcome is told. */
import * as z from "zod";
import type { SmokeArguments } from "./arguments.ts";
import type { Reply, Sent } from "./http.ts";

/** `note`: neither right nor wrong; what this gateway does is worth knowing. `skip`: it could not be tried. */
export type Verdict = "pass" | "fail" | "note" | "skip";
export type Outcome = { readonly verdict: Verdict; readonly said: string };

export type Scratch = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
};

export type Site = SmokeArguments & {
  readonly scratch: Scratch;
  /** Below the address, with no header but those given. */
  readonly send: (path: string, sent?: Sent) => Promise<Reply>;
  /** JSON of these fields and the scratch queue's name, with the token. */
  readonly ask: (path: string, fields?: object, headers?: Sent["headers"]) => Promise<Reply>;
};

export type Check = { readonly name: string; readonly run: (site: Site) => Promise<Outcome> };

export const outcome = (verdict: Verdict, said: string): Outcome => ({ verdict, said });

const SHOWN_MAX = 160;

/** In one line: the status, and what the body says. */
export function told({ status, text }: Reply): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  const shown = line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}…` : line;
  return status < 300 || shown === "" ? String(status) : `${status} ${shown}`;
}

const errorBody = z.object({ error: z.object({ code: z.string(), message: z.string(), requestId: z.string() }) });
const gatewayBody = z.object({ message: z.string() });

export const codeOf = ({ json }: Reply): string | undefined => errorBody.safeParse(json).data?.error.code;

/** An error of the service itself: its shape, its code, and the request's id in it and beside it. */
export function refused(reply: Reply, status: number, code: string): Outcome {
  const error = errorBody.safeParse(reply.json).data?.error;
  const isOurs = error?.code === code && error.requestId === reply.headers["x-request-id"];
  if (reply.status === status && isOurs) return outcome("pass", `${status} ${code}`);
  return outcome("fail", `${told(reply)}; expected ${status} ${code}, with its x-request-id`);
}

/** An answer of the gateway, before any code of the service. */
export function refusedByGateway(reply: Reply, status: number): Outcome {
  const isGateways = reply.status === status && gatewayBody.safeParse(reply.json).success;
  if (isGateways) return outcome("pass", told(reply));
  return outcome("fail", `${told(reply)}; expected ${status} {"message": …}`);
}

export function succeeded(reply: Reply, also: string = ""): Outcome {
  if (reply.status !== 200) return outcome("fail", `${told(reply)}; expected 200`);
  if (reply.headers["x-request-id"] === undefined) return outcome("fail", "200 without x-request-id");
  return outcome("pass", `200${also}`);
}
