/** The answers that several use cases give, worded once. */
import type { QueueKey } from "../../kernel/ids.ts";
import { fail } from "../../kernel/result.ts";

const at = ({ repo }: QueueKey): string => `${repo.host}/${repo.owner}/${repo.name}`;

export const noQueue = (key: QueueKey) =>
  fail("QUEUE_NOT_FOUND", `No merge queue targets branch "${key.branch}" of ${at(key)}. Create it with /createQueue.`);

export const neverSubmitted = (key: QueueKey, what: string) =>
  fail("PULL_REQUEST_NOT_FOUND", `${what} was never submitted to the queue of "${key.branch}" of ${at(key)}.`);

export const alreadyMerged = (prNumber: number) =>
  fail("PULL_REQUEST_ALREADY_MERGED", `PR #${prNumber} has been merged; there is nothing left to do with it.`);

export const isLanding = (prNumber: number) =>
  fail("PULL_REQUEST_LANDING", `PR #${prNumber} is landing and can no longer be changed. Read it again in a moment.`);
