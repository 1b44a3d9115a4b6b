import { randomUUID } from "node:crypto";
import type { EndpointPorts } from "../shared/http/use-case.ts";
import type { NewId } from "../shared/kernel/ids.ts";
import type { Log } from "../shared/kernel/log.ts";
import { systemClock } from "../shared/kernel/time.ts";
import { openTable, type Table } from "../shared/table/client.ts";
import { idempotencyStore } from "../shared/table/idempotency.ts";
import { LOCAL_TABLE_NAME } from "../shared/table/table-definition.ts";
import { type TokenStore, tokenStore } from "../shared/table/tokens.ts";

/** Everything a function may need, made once per cold start. */
export type Wiring = EndpointPorts & { readonly newId: NewId; readonly tokens: TokenStore };

const line =
  (level: string): Log["info"] =>
  (message, fields = {}) => {
    process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
  };

const log: Log = { info: line("info"), warn: line("warn"), error: line("error") };

/** What every wiring shares: the stores of one table. */
export const onTable = (table: Table, log: Log): Wiring => ({
  log,
  clock: systemClock,
  newId: randomUUID,
  tokens: tokenStore(table),
  idempotency: idempotencyStore(table),
});

let made: Wiring | undefined;

/** The local server and tests put theirs in before the first request. */
export const useWiring = (wiring: Wiring): void => {
  made = wiring;
};

export function wiring(): Wiring {
  made ??= onTable(openTable({ name: process.env["TABLE_NAME"] ?? LOCAL_TABLE_NAME }), log);
  return made;
}
