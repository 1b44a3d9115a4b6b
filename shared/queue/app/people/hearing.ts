/** What hearing comments and labels has in common: whose word counts, and what is remembered. */
import type { People, Person, Pull, Right } from "../../../code-host/people.ts";
import { type QueueKey, queueLabel } from "../../../kernel/ids.ts";
import { type EpochMs, MINUTE_MS } from "../../../kernel/time.ts";
import type { PeopleEffect, QueueApp } from "../ports.ts";
import { RACED, untilUncontended } from "../retry.ts";
import type { QueueSettings } from "../settings.ts";
import { isNamedBot } from "./labels.ts";
import { type Show, showOf } from "./showing.ts";
import type { HeardOf } from "./ports.ts";

export type Hearing = {
  readonly app: QueueApp;
  readonly people: People;
  readonly key: QueueKey;
  readonly settings: QueueSettings;
  readonly prNumber: number;
};

/** How what they do is signed. */
export const signed = ({ login }: Person): string => `github:${login}`;

/** Whoever names a bot in the queue's settings trusts it to submit, and with nothing that goes ahead of everybody. */
export async function rightOf({ people, key, settings }: Hearing, person: Person): Promise<Right> {
  if (person.kind === "SELF") return "NONE";
  if (person.kind === "USER") return people.rightOf(key.repo, person.login);
  return isNamedBot(person.login, settings.allowedBotSubmitters) ? "WRITE" : "NONE";
}

export const mayWrite = (right: Right): boolean => right === "WRITE" || right === "MAINTAIN";

/** Somebody who wrote at once is meant to have seen the head that is there a moment later. */
const LATE_MS = 3 * MINUTE_MS;

/** Whether the author of a fork's may have pushed since, without the right to say what lands. */
export const isLate = ({ clock }: Pick<QueueApp, "clock">, { fromFork }: Pull, at: EpochMs): boolean =>
  fromFork && clock() - at > LATE_MS;

export const LATE =
  "This was heard only minutes later, and the author of a pull request from a fork may have pushed meanwhile.";

type Told = { readonly why: string; readonly by?: string; readonly comment?: number };

/** Nothing comes of it, and nobody is told but whoever runs the service. */
export function unheard({ app, key, prNumber }: Hearing, told: Told): undefined {
  app.log.info("what was said on a pull request was not acted on", { queue: queueLabel(key), prNumber, ...told });
}

/**
 * Changes what is remembered, unless `next` finds that there is nothing to change; others may do so at the same time.
 * Answers why it is to be tried again, where it is.
 */
export async function remember(
  { app, key, prNumber }: Hearing,
  next: (known: HeardOf) => HeardOf | undefined,
  also: readonly PeopleEffect[] = [],
): Promise<string | undefined> {
  const done = await untilUncontended(app, async () => {
    const known = await app.heard.of(key, prNumber);
    const wanted = next(known);
    if (wanted === undefined) return { ok: true } as const;
    return (await app.heard.write({ key, prNumber, next: wanted }, also)) === "WRITTEN"
      ? ({ ok: true } as const)
      : RACED;
  });
  return done.ok ? undefined : done.fault.message;
}

export const shows = ({ app, prNumber }: Hearing, why: string): Show =>
  showOf(`${prNumber}:${why}`, [prNumber], app.clock());
