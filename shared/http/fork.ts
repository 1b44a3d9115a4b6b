/** Whoever has no token because a workflow of a fork gets no secrets: it names its run, and the code host vouches for it. */
import type { Route } from "../api/route.ts";
import type { Fault } from "../kernel/result.ts";
import type { Principal } from "./authorizer-answer.ts";
import { type ApiEvent, header } from "./event.ts";

export const RUN_HEADER = "x-forked-workflow-run-id";

/** What is asked, before anybody has judged any of it. */
export type ForkAsks = {
  readonly run: number;
  readonly body: unknown;
  readonly requestId: string;
  /** From where, as whoever took the request in sees it. */
  readonly address: string;
};

export type ForkDoor = {
  /** False: no code host is connected whose forks could come in, so that nobody's body is looked at. */
  readonly isOpen: () => boolean;
  /** Undefined for whatever is not right. */
  readonly admit: (asked: ForkAsks) => Promise<Principal | undefined>;
};

/** One answer for everything, so that nobody learns by it what is linked here. */
export const NOT_A_FORK: Fault<"UNAUTHENTICATED"> = {
  code: "UNAUTHENTICATED",
  message:
    "Without an x-api-token this is for workflows of forks: while a run of the event pull_request is in progress, of a fork's pull request of a repository on GitHub that has a queue here, with the run's id as x-forked-workflow-run-id, with repo and targetBranch, and the pull request's head commit as pr.sha.",
};

const RUN = /^[1-9]\d{0,15}$/u;

/** A token that is sent is what counts, a bad one too. An empty one is none: so a secret that is not there is sent. */
export function isFork({ auth }: Pick<Route, "auth">, event: ApiEvent): boolean {
  if (auth !== "token-or-fork" || (header(event, "x-api-token") ?? "") !== "") return false;
  return header(event, RUN_HEADER) !== undefined;
}

export function runOf(event: ApiEvent): number | undefined {
  const text = header(event, RUN_HEADER) ?? "";
  return RUN.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}
