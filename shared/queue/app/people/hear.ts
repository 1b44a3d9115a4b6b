/**
 * Does what people ask for on their pull requests' pages. The truth is read each time: what the comment says by now, who
 * wrote it, what they may do. What is done is recorded with the change that it makes, so that it is done once.
 */
import type { Heard } from "../../../code-host/people.ts";
import type { CodeHost } from "../../../code-host/port.ts";
import type { QueueKey } from "../../../kernel/ids.ts";
import { DAY_MS } from "../../../kernel/time.ts";
import type { QueueApp } from "../ports.ts";
import { hearComment } from "./hear-comment.ts";
import { hearLabel } from "./hear-label.ts";
import { unheard } from "./hearing.ts";

/** A host that was away for longer: whoever asked has seen that nothing happened, and does not wait for it any more. */
const PATIENCE_MS = DAY_MS;

/** Answers why it is to be tried again, where it is. */
export async function hear(app: QueueApp, host: CodeHost, key: QueueKey, heard: Heard): Promise<string | undefined> {
  const { people } = host;
  const record = await app.queues.find(key);
  if (people === undefined || record === undefined || record.deleting) return undefined;
  const on = { app, people, key, settings: record.config.settings, prNumber: heard.prNumber };
  if (app.clock() - heard.at > PATIENCE_MS) return unheard(on, { why: "it could not be looked at for a day" });
  return heard.kind === "COMMENT" ? hearComment(on, heard) : hearLabel(on, heard);
}
